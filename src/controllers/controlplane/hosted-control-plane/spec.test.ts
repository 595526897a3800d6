import { describe, expect, it } from 'vitest';
import type { HostedControlPlane, HostedControlPlaneSpec } from '../../../api/index.ts';
import { specProblems } from '../../../hosting/index.ts';
import { hostedPlaneSpec } from './spec.ts';
import { desiredVolumeSize } from './volumes.ts';

const controlPlane = (
  spec: Partial<HostedControlPlaneSpec> = {},
  status: HostedControlPlane['status'] = {},
): HostedControlPlane => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name: 'shop-cp', namespace: 'teams', uid: 'u' },
  spec: { version: '1.33.6', gateway: { namespace: 'gateways', name: 'planes' }, ...spec },
  status,
});
const desiredOf = (spec: Partial<HostedControlPlaneSpec> = {}) =>
  hostedPlaneSpec({ controlPlane: controlPlane(spec), clusterName: 'shop' });

describe('the spec of a HostedControlPlane', () => {
  it('has the same defaults as upstream', () => {
    const desired = desiredOf();
    expect(specProblems(desired)).toEqual([]);
    expect(desired).toMatchObject({
      layout: 'hardened',
      version: 'v1.33.6',
      replicas: 2,
      dataStore: { kind: 'own-etcd', members: 3, storage: { size: '1Gi' }, deleteVolumes: true },
      exposure: { type: 'LoadBalancer', apiPort: 443, legacyApiPort: 6443, konnectivityPort: 8132 },
      network: { serviceCidrs: ['10.96.0.0/12'], podCidrs: ['10.0.0.0/16'], domain: 'cluster.local' },
      konnectivity: { agentReplicas: 2 },
      addons: { coreDns: { replicas: 2 }, kubeProxy: {}, kubeadm: true },
      certificates: { authorityDurationMs: 87_600 * 3_600_000, leafDurationMs: 8_760 * 3_600_000 },
    });
    expect(desired.images.apiServer).toBe('registry.k8s.io/kube-apiserver:v1.33.6');
  });

  it('combines image parts, arguments by name, and mounted files', () => {
    const { images, components } = desiredOf({
      deployment: {
        apiServer: {
          image: { registry: 'mirror.example.org', tag: 'v1.33.6-patched' },
          args: { 'feature-gates': 'A=true', '--v': '4' },
          mounts: { policy: { path: '/etc/policy', configMap: { name: 'policy' } } },
          konnectivity: { resources: { requests: { cpu: '10m' } } },
        },
        controllerManager: { replicas: 2, priorityClassName: 'planes' },
      },
      etcd: { image: { repository: 'etcd/etcd' } },
    });
    expect(images.apiServer).toBe('mirror.example.org/kube-apiserver:v1.33.6-patched');
    expect(images.etcd).toMatch(/^registry\.k8s\.io\/etcd\/etcd:/);
    expect(components.apiServer).toMatchObject({
      args: ['--feature-gates=A=true', '--v=4'],
      volumes: [{ name: 'policy', configMap: { name: 'policy' } }],
      volumeMounts: [{ name: 'policy', mountPath: '/etc/policy', readOnly: true }],
    });
    expect(components.konnectivityServer).toEqual({ resources: { requests: { cpu: '10m' } } });
    expect(components.controllerManager).toEqual({ replicas: 2, priorityClassName: 'planes' });
  });

  it('merges the certificate names of both fields', () => {
    const sans = desiredOf({
      apiServer: { certSANs: ['a.example.org', 'b.example.org'] },
      deployment: { apiServer: { certSANs: ['b.example.org', 'c.example.org'] } },
    }).exposure.sans;
    expect([...sans].sort()).toEqual(['a.example.org', 'b.example.org', 'c.example.org']);
  });

  it.each([
    ['1.33.6', 'apiserver.config.k8s.io/v1beta1'],
    ['v1.35.0', 'apiserver.config.k8s.io/v1'],
  ])('configures OpenID Connect providers in the authentication API of version %s', (version, apiVersion) => {
    const provider = { audiences: ['shop'], claimMappings: { username: { claim: 'sub' } } };
    const oidcProviders = { 'https://b.example.org': provider, 'https://a.example.org': provider };
    expect(desiredOf({ version, oidcProviders }).apiServer.authentication).toMatchObject({
      apiVersion,
      jwt: [
        {
          issuer: { url: 'https://a.example.org', audiences: ['shop'] },
          claimMappings: { username: { claim: 'sub', prefix: '' } },
        },
        { issuer: { url: 'https://b.example.org' } },
      ],
    });
  });

  it('omits disabled add-ons and sets up a backup schedule', () => {
    const desired = desiredOf({
      kubeProxy: { disabled: true },
      coredns: { replicas: 0 },
      etcd: { backup: { schedule: '@daily', secret: { name: 's3', hostKey: 'endpoint' } } },
    });
    expect(desired.addons).toEqual({ kubeadm: true });
    expect(desired.backup).toEqual({
      schedule: '@daily',
      target: {
        type: 's3',
        secretNamespace: 'teams',
        secretName: 's3',
        keys: {
          accessKeyId: 'accessKeyID',
          secretAccessKey: 'secretAccessKey',
          host: 'endpoint',
          region: 'region',
          bucket: 'bucket',
        },
      },
    });
  });
});

describe('the etcd volumes of a HostedControlPlane', () => {
  it.each([
    ['begin small', {}, {}, '1Gi'],
    ['are as large as somebody says', { volumeSize: '8Gi' }, { etcdVolumeUsage: '7900Mi' }, '8Gi'],
    ['stay while there is room', {}, { etcdVolumeSize: '2Gi', etcdVolumeUsage: '1Gi' }, '2Gi'],
    ['grow when they fill up', {}, { etcdVolumeSize: '2Gi', etcdVolumeUsage: '1700Mi' }, '3Gi'],
    ['do not where nobody wants that', { autoGrow: false }, { etcdVolumeSize: '2Gi', etcdVolumeUsage: '2Gi' }, '2Gi'],
  ])('%s', (_, etcd, status, size) => {
    expect(desiredVolumeSize(controlPlane({ etcd }, status))).toBe(size);
  });

  it('encrypts Secrets when an annotation requests it', () => {
    expect(desiredOf().apiServer.encryptionAtRest).toBeUndefined();
    const plane = controlPlane();
    plane.metadata.annotations = { 'controlplane.cluster.x-k8s.io/encrypt-secrets': 'true' };
    const asked = hostedPlaneSpec({ controlPlane: plane, clusterName: 'shop' });
    expect(asked.apiServer.encryptionAtRest).toBe(true);
  });
});
