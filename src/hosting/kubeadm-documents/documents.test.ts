import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  clusterConfigurationDocument,
  initConfigurationDocument,
  joinConfigurationDocument,
  kubeadmApiVersionFor,
  UnsupportedKubernetesVersionError,
} from './index.ts';

describe('the format of kubeadm configuration', () => {
  it.each([
    ['v1.15.0', 'v1beta2'],
    ['v1.21.14', 'v1beta2'],
    ['v1.22.0-rc.1', 'v1beta3'],
    ['1.30.4', 'v1beta3'],
    ['v1.31.0-alpha.1', 'v1beta4'],
    ['v1.40.1+vendor.2', 'v1beta4'],
  ])('kubeadmApiVersionFor %s is %s', (version, format) => {
    expect(kubeadmApiVersionFor(version)).toBe(format);
  });

  it.each(['v1.14.10', 'v0.31.0', 'v2.0.0', 'latest', ''])(
    'kubeadmApiVersionFor refuses the unknown version "%s"',
    (version) => {
      expect(() => kubeadmApiVersionFor(version)).toThrow(UnsupportedKubernetesVersionError);
    },
  );
});

describe('a ClusterConfiguration', () => {
  const facts = { clusterName: 'c', controlPlaneTimeoutSeconds: 60 };
  const desired = {
    apiServer: {
      extraArgs: [
        { name: 'b', value: '1' },
        { name: 'a', value: '' },
      ],
      extraEnvs: [{ name: 'E' }],
    },
    certificateValidityPeriodDays: 2,
    encryptionAlgorithm: 'RSA-2048' as const,
  };

  it('leaves out API server flags that its version no longer knows', () => {
    const extraArgs = [
      { name: 'cloud-provider', value: 'external' },
      { name: 'v', value: '2' },
    ];
    const argumentsOf = (kubernetesVersion: string): unknown => {
      const { value, ignored } = clusterConfigurationDocument(
        { apiServer: { extraArgs } },
        { ...facts, kubernetesVersion },
      );
      return [(value['apiServer'] as { extraArgs: unknown }).extraArgs, ignored];
    };
    expect(argumentsOf('v1.32.9')).toEqual([extraArgs, []]);
    expect(argumentsOf('v1.33.0')).toEqual([
      [{ name: 'v', value: '2' }],
      ['clusterConfiguration.apiServer.extraArgs[cloud-provider]'],
    ]);
  });

  it('uses maps, its own timeout and no newer fields before v1beta4', () => {
    const { value, ignored } = clusterConfigurationDocument(desired, { ...facts, kubernetesVersion: 'v1.30.0' });
    expect(value['apiServer']).toEqual({ extraArgs: { a: '', b: '1' }, timeoutForControlPlane: '60s' });
    expect(ignored).toEqual([
      'clusterConfiguration.apiServer.extraEnvs',
      'clusterConfiguration.certificateValidityPeriodDays',
      'clusterConfiguration.encryptionAlgorithm',
    ]);
  });

  it('uses lists in the given order since v1beta4 and leaves nothing out', () => {
    const { value, ignored } = clusterConfigurationDocument(desired, { ...facts, kubernetesVersion: 'v1.31.0' });
    expect(value['apiServer']).toEqual({ extraArgs: desired.apiServer.extraArgs, extraEnvs: [{ name: 'E' }] });
    expect(value).toMatchObject({ certificateValidityPeriod: '48h', encryptionAlgorithm: 'RSA-2048' });
    expect(ignored).toEqual([]);
  });

  it('prefers the endpoint of the configuration to that of the cluster', () => {
    const given = { ...facts, kubernetesVersion: 'v1.31.0', controlPlaneEndpoint: 'cluster:6443' };
    expect(clusterConfigurationDocument({}, given).value['controlPlaneEndpoint']).toBe('cluster:6443');
    const own = { controlPlaneEndpoint: 'own:6443' };
    expect(clusterConfigurationDocument(own, given).value['controlPlaneEndpoint']).toBe('own:6443');
  });
});

describe('the configuration of a machine', () => {
  it('tells an empty list of taints, which means none, from an absent one', () => {
    const none = initConfigurationDocument({ nodeRegistration: { taints: [] } }, 'v1.34.0');
    expect(none.value['nodeRegistration']).toEqual({ taints: [] });
    expect(initConfigurationDocument({ nodeRegistration: { name: 'n' } }, 'v1.34.0').text).not.toContain('taints');
  });

  it('puts the time for TLS where each format keeps it', () => {
    const join = { timeouts: { tlsBootstrapSeconds: 7, discoverySeconds: 8 } };
    const old = joinConfigurationDocument(join, 'v1.30.0');
    expect(old.value['discovery']).toEqual({ timeout: '7s' });
    expect(old.ignored).toEqual(['joinConfiguration.timeouts.discoverySeconds']);
    expect(joinConfigurationDocument(join, 'v1.31.0').value['timeouts']).toEqual({
      tlsBootstrap: '7s',
      discovery: '8s',
    });
  });

  it('makes the machine part of the control plane by the mere presence of the section', () => {
    expect(joinConfigurationDocument({ controlPlane: {} }, 'v1.34.0').value['controlPlane']).toEqual({});
  });

  it('keeps every text unchanged when it is read as YAML 1.1', () => {
    const tricky = fc.constantFrom(
      'yes',
      'NO',
      '0600',
      '08:30',
      '1e3',
      '~',
      'null',
      '0x1f',
      '{{ x }}',
      '#',
      ' a',
      '- b',
    );
    fc.assert(
      fc.property(fc.oneof(tricky, fc.string()), (value) => {
        const { text } = initConfigurationDocument(
          { nodeRegistration: { kubeletExtraArgs: [{ name: 'a', value }] } },
          'v1.30.0',
        );
        const read = parse(text, { version: '1.1' }) as { nodeRegistration: { kubeletExtraArgs: { a: unknown } } };
        expect(read.nodeRegistration.kubeletExtraArgs.a).toBe(value);
      }),
    );
  });
});
