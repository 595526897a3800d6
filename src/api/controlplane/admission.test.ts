import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { context, created, defaulted, make, refusedBySchema, strategyOf, updated } from '../admission.test-support.ts';

const machineTemplate = {
  spec: {
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachineTemplate', name: 'x' },
  },
};
const base: JsonObject = { version: 'v1.32.4', replicas: 3, machineTemplate };
const external = { endpoints: ['https://192.0.2.1:2379'], caFile: '/a', certFile: '/b', keyFile: '/c' };
const controlPlane = (spec: JsonObject, status?: JsonObject): UnstructuredObject =>
  defaulted(make('KubeadmControlPlane', { ...base, ...spec }, {}, status));
const cluster = (clusterConfiguration: JsonObject): JsonObject => ({ kubeadmConfigSpec: { clusterConfiguration } });

describe('defaults of a KubeadmControlPlane', () => {
  it('are one replica, a version with a leading v and a rolling update with surge one', () => {
    const object = defaulted(make('KubeadmControlPlane', { version: '1.32.4', machineTemplate }));
    expect(object.spec).toEqual({
      version: 'v1.32.4',
      replicas: 1,
      machineTemplate,
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    });
    expect(created(object)).toEqual([]);
    expect(refusedBySchema(object)).toEqual([]);
  });

  it('keep the fields that are set', () => {
    const rollout = {
      after: '2030-01-01T00:00:00Z',
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } },
    };
    expect((controlPlane({ rollout }).spec as JsonObject)['rollout']).toEqual(rollout);
  });

  it('keep the replica count when an update leaves it out', () => {
    const draft = make('KubeadmControlPlane', { version: 'v1.32.4', machineTemplate });
    strategyOf('KubeadmControlPlane').prepareForUpdate!(draft, controlPlane({}), context);
    expect((defaulted(draft).spec as JsonObject)['replicas']).toBe(3);
  });
});

describe('validation of a KubeadmControlPlane', () => {
  const clusterPath = 'spec.kubeadmConfigSpec.clusterConfiguration';
  it.each<[string, JsonObject, string[]]>([
    ['no machine', { replicas: 0 }, ['spec.replicas: Forbidden: cannot be less than or equal to 0']],
    ['an even number', { replicas: 2 }, ['spec.replicas: Forbidden: cannot be an even number when etcd is stacked']],
    ['an even number with etcd outside is fine', { replicas: 2, ...cluster({ etcd: { external } }) }, []],
    ['no version', { version: 'latest' }, ['spec.version: Invalid value: "vlatest": must be a valid semantic version']],
    [
      'a surge that is neither 0 nor 1',
      { rollout: { strategy: { rollingUpdate: { maxSurge: 2 } } } },
      ['spec.rollout.strategy.rollingUpdate.maxSurge: Required value: value must be 1 or 0'],
    ],
    [
      'a surge in per cent',
      { rollout: { strategy: { rollingUpdate: { maxSurge: '50%' } } } },
      ['spec.rollout.strategy.rollingUpdate.maxSurge: Required value: value must be 1 or 0'],
    ],
    [
      'scaling in with one machine',
      { replicas: 1, rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } } },
      [
        'spec.rollout.strategy.rollingUpdate: Required value: when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3',
      ],
    ],
    ['scaling in with three', { rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } } }, []],
    [
      'certificates that outlive their authority',
      {
        ...cluster({ certificateValidityPeriodDays: 100, caCertificateValidityPeriodDays: 50 }),
        rollout: { before: { certificatesExpiryDays: 100 } },
      },
      [
        `${clusterPath}.certificateValidityPeriodDays: Invalid value: 100: must be less than or equal to caCertificateValidityPeriodDays (50)`,
        'spec.rollout.before.certificatesExpiryDays: Invalid value: 100: must be less than certificateValidityPeriodDays (100)',
      ],
    ],
    [
      'names that cannot be distinguished',
      { machineNaming: { template: '{{ .cluster.name }}' } },
      ['spec.machineNaming.template: Invalid value: "{{ .cluster.name }}": invalid template, {{ .random }} is missing'],
    ],
    [
      'names that are no names',
      { machineNaming: { template: 'CP_{{ .random }}' } },
      ['invalid template, generated names would not be valid Kubernetes object names'],
    ],
    [
      'names made of what does not exist',
      { machineNaming: { template: '{{ .machineSet.name }}-{{ .random }}' } },
      ['invalid template: there is no .machineSet.name'],
    ],
    [
      'names made with functions are left to be rendered',
      { machineNaming: { template: '{{ .random | x }}-{{ .random }}' } },
      [],
    ],
    [
      'etcd in two places',
      cluster({ etcd: { external, local: { dataDir: '/d' } } }),
      [`${clusterPath}.etcd.local: Forbidden: cannot have both external and local etcd`],
    ],
    [
      'tags that are none',
      cluster({ dns: { imageTag: 'newest' }, etcd: { local: { imageTag: 'a b' } } }),
      [
        `${clusterPath}.etcd.local.imageTag: Forbidden: tag a b is invalid`,
        `${clusterPath}.dns.imageTag: Invalid value: "newest": failed to parse CoreDNS version`,
      ],
    ],
    [
      "a taint that is not the user's",
      {
        machineTemplate: {
          spec: {
            ...machineTemplate.spec,
            taints: [{ key: 'node.kubernetes.io/x', effect: 'NoSchedule', propagation: 'Always' }],
          },
        },
      },
      [
        'spec.machineTemplate.spec.taints[0].key: Invalid value: "node.kubernetes.io/x": taint key must not have the prefix',
      ],
    ],
    [
      'timeouts that v1beta1 could not say',
      { kubeadmConfigSpec: { initConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 5 } } } },
      [
        'spec.kubeadmConfigSpec.initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid value: "5"',
        'spec.kubeadmConfigSpec.joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid value: "unset"',
      ],
    ],
    [
      'what is wrong in its configuration',
      { kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: 'pki' } } },
      [`${clusterPath}.certificatesDir: Invalid value: "pki": must be an absolute path`],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(controlPlane(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });
});

describe('an update of a KubeadmControlPlane', () => {
  const clusterPath = 'spec.kubeadmConfigSpec.clusterConfiguration';
  const versions = (...running: string[]): JsonObject => ({
    versions: running.map((version) => ({ version, replicas: 1 })),
  });

  it.each<[string, string, string, JsonObject | undefined, string[]]>([
    ['the next minor version', 'v1.32.4', 'v1.33.9', undefined, []],
    [
      'a minor version left out',
      'v1.32.4',
      'v1.34.0',
      undefined,
      [
        'spec.version: Forbidden: cannot update Kubernetes version from v1.32.4 to v1.34.0: minor versions cannot be skipped',
      ],
    ],
    ['a lower patch version', 'v1.32.4', 'v1.32.1', versions('v1.32.4'), []],
    [
      'back below what runs',
      'v1.33.0',
      'v1.32.4',
      versions('v1.32.4', 'v1.33.0'),
      ['spec.version: Forbidden: cannot update Kubernetes version from v1.33.0 to v1.32.4: machines already run v1.33'],
    ],
    ['back before anything was made of it', 'v1.33.0', 'v1.32.4', versions('v1.32.4'), []],
  ])('judges the version change: %s', (_, from, to, status, expected) => {
    expect(updated(controlPlane({ version: to }), controlPlane({ version: from }, status))).toEqual(expected);
  });

  it.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'its endpoint, its certificates, its authority',
      { controlPlaneEndpoint: 'a:6443', certificatesDir: '/a', caCertificateValidityPeriodDays: 10 },
      { controlPlaneEndpoint: 'b:6443', certificatesDir: '/b' },
      ['controlPlaneEndpoint', 'certificatesDir', 'caCertificateValidityPeriodDays'].map(
        (name) => `${clusterPath}.${name}: Forbidden: cannot be modified`,
      ),
    ],
    [
      'etcd moves out',
      {},
      { etcd: { external } },
      [`${clusterPath}.etcd.external: Forbidden: cannot change between external and local etcd`],
    ],
    ['another outside etcd', { etcd: { external } }, { etcd: { external: { ...external, caFile: '/z' } } }, []],
    [
      'CoreDNS goes back',
      { dns: { imageTag: 'v1.11.1' } },
      { dns: { imageTag: 'v1.9.3' } },
      [
        `${clusterPath}.dns.imageTag: Forbidden: cannot migrate CoreDNS up to '1.9.3' from '1.11.1': it is a lower version`,
      ],
    ],
    [
      'arguments and images',
      { apiServer: { certSANs: ['a'] } },
      { imageRepository: 'r', dns: { imageTag: 'v1.9.3' } },
      [],
    ],
  ])('judges the configuration change: %s', (_, before, after, expected) => {
    expect(updated(controlPlane(cluster(after)), controlPlane(cluster(before)))).toEqual(expected);
  });
});

describe('a KubeadmControlPlaneTemplate', () => {
  const template = (spec: JsonObject, metadata: JsonObject = {}): UnstructuredObject =>
    make('KubeadmControlPlaneTemplate', { template: { metadata, spec } });
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } };

  it('is checked like the control planes made from it', () => {
    expect(created(template({ kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: 'pki' } } }))).toEqual([
      'spec.template.spec.kubeadmConfigSpec.clusterConfiguration.certificatesDir: Invalid value: "pki": must be an absolute path',
    ]);
  });

  it('refuses spec changes other than defaults that older objects lack, and accepts new labels', () => {
    const old = template({ kubeadmConfigSpec: { verbosity: 1 }, rollout: { strategy } });
    expect(updated(template({ kubeadmConfigSpec: { verbosity: 1 } }, { labels: { a: 'b' } }), old)).toEqual([]);
    expect(updated(template({ kubeadmConfigSpec: { verbosity: 1, format: 'cloud-config' } }), old)).toEqual([]);
    const changed = template({ kubeadmConfigSpec: { verbosity: 2 } });
    expect(updated(changed, old)[0]).toContain('KubeadmControlPlaneTemplate spec.template.spec field is immutable');
  });

  it('accepts a changed spec in a dry run of the topology controller', () => {
    const old = template({ kubeadmConfigSpec: { verbosity: 1 } });
    const asked = template({ kubeadmConfigSpec: { verbosity: 2 } });
    asked.metadata.annotations = { 'topology.cluster.x-k8s.io/dry-run': '' };
    expect(updated(asked, old, { dryRun: true })).toEqual([]);
    expect(updated(asked, old)).toHaveLength(1);
  });
});
