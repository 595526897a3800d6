import { describe, expect, it } from 'vitest';
import { asJson, clone, isJsonObject, type JsonObject, type JsonValue, must } from '../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, strategyOf, updated } from '../admission.test-support.ts';
import { latticeSettings } from './settings.ts';
import type { LatticeCluster } from './types.ts';

/** The manifest of the guide. */
const guide: JsonObject = {
  provider: {
    kubernetes: { version: '1.32.0', bootstrap: 'kubeadm' },
    config: {
      openstack: {
        externalNetworkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
        cpFlavor: 'b2-30',
        workerFlavor: 'b2-15',
        imageName: 'Ubuntu 22.04',
        sshKeyName: 'lattice-key',
        dnsNameservers: ['8.8.8.8', '8.8.4.4'],
        nodeCidr: '10.6.0.0/24',
        cpRootVolumeSizeGb: 50,
        cpRootVolumeType: 'high-speed',
        workerRootVolumeSizeGb: 50,
        workerRootVolumeType: 'classic',
      },
    },
  },
  nodes: { controlPlane: 3, workerPools: { default: { replicas: 5 } } },
  endpoints: { grpcPort: 50051, bootstrapPort: 8443, service: { type: 'LoadBalancer' } },
};

/** Returns the manifest with some fields changed; undefined removes a field. */
function withFields(changes: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const spec = clone(guide);
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    const last = must(keys.pop(), 'a field');
    let at = spec;
    for (const key of keys) {
      const next = at[key];
      const inner: JsonObject = isJsonObject(next) ? next : {};
      at[key] = inner;
      at = inner;
    }
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return spec;
}

const cluster = (changes: Readonly<Record<string, JsonValue | undefined>> = {}, name = 'my-cluster') =>
  make('LatticeCluster', withFields(changes), { name, namespace: undefined });
const openstack = 'provider.config.openstack';

const settingsOf = (changes: Readonly<Record<string, JsonValue | undefined>> = {}) =>
  must(latticeSettings(asJson(defaulted(cluster(changes))) as JsonObject & LatticeCluster), 'settings');

describe('a LatticeCluster', () => {
  it('accepts the manifest of the guide and fills in defaults', () => {
    const object = defaulted(cluster());
    expect(refusedBySchema(object)).toEqual([]);
    expect(created(object)).toEqual([]);
    expect(object['spec']).toMatchObject({
      providerRef: 'openstack',
      provider: { config: { openstack: { cloudName: 'openstack', managedSecurityGroups: true } } },
      endpoints: { proxyPort: 8081 },
    });
    expect(strategyOf('LatticeCluster').warnings?.(object)).toEqual([]);
  });

  it('gives the same settings for both spellings of the OpenStack fields', () => {
    const other = {
      [`${openstack}.externalNetworkId`]: undefined,
      [`${openstack}.externalNetwork`]: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
      [`${openstack}.cpFlavor`]: undefined,
      [`${openstack}.workerFlavor`]: undefined,
      [`${openstack}.cpRootVolumeSizeGb`]: undefined,
      [`${openstack}.cpRootVolumeType`]: undefined,
      [`${openstack}.workerRootVolumeSizeGb`]: undefined,
      [`${openstack}.workerRootVolumeType`]: undefined,
      'nodes.controlPlane': {
        replicas: 3,
        instanceType: { name: 'b2-30' },
        rootVolume: { sizeGb: 50, type: 'high-speed' },
      },
      'nodes.workerPools.default.instanceType': { name: 'b2-15' },
      'nodes.workerPools.default.rootVolume': { sizeGb: 50, type: 'classic' },
      endpoints: undefined,
      parentConfig: { service: {} },
    };
    expect(created(defaulted(cluster(other)))).toEqual([]);
    const { pools, ...rest } = settingsOf(other);
    const { pools: printed, ...same } = settingsOf();
    expect(rest).toEqual(same);
    expect(pools).toMatchObject(printed.map(({ pool: _, ...pool }) => pool));
  });

  it('has the name of its endpoints in the certificate of its API, once', () => {
    const certSANs = ['api.example.com', 'parent.example.com'];
    expect(settingsOf({ 'provider.kubernetes.certSANs': certSANs }).certSANs).toEqual(certSANs);
    for (const field of ['endpoints', 'parentConfig']) {
      const other = { endpoints: undefined, [field]: { host: 'parent.example.com' } };
      expect(settingsOf(other).certSANs).toEqual(['parent.example.com']);
      expect(settingsOf({ ...other, 'provider.kubernetes.certSANs': certSANs }).certSANs).toEqual(certSANs);
    }
  });

  it('takes its Secret from the guide default, secretRef or credentialsSecretRef', () => {
    expect(settingsOf().secret).toEqual({ namespace: 'capo-system', name: 'openstack-cloud-config' });
    expect(settingsOf({ [`${openstack}.secretRef`]: { name: 'mine' } }).secret).toEqual({
      namespace: 'capo-system',
      name: 'mine',
    });
    expect(settingsOf({ 'provider.credentialsSecretRef': { name: 'mine' } }).secret).toEqual({
      namespace: 'lattice-system',
      name: 'mine',
    });
  });

  it.each<[string, Readonly<Record<string, JsonValue | undefined>>, string]>([
    ['an even control plane', { 'nodes.controlPlane': 2 }, 'write 1 or 3'],
    ['no control plane', { 'nodes.controlPlane': 0 }, 'must be 1 or an odd number'],
    ['an even control plane in the other form', { 'nodes.controlPlane': { replicas: 4 } }, 'write 3 or 5'],
    ['a control plane that is a text', { 'nodes.controlPlane': 'three' }, 'must be a number, or an object'],
    ['an unknown field of the control plane', { 'nodes.controlPlane': { replicas: 1, size: 1 } }, 'controlPlane.size'],
    ['no flavor of the control plane', { [`${openstack}.cpFlavor`]: undefined }, 'cpFlavor: Required value'],
    [
      'no flavor of a pool',
      { [`${openstack}.workerFlavor`]: undefined },
      'workerFlavor: Required value: or spec.nodes',
    ],
    ['no network', { [`${openstack}.externalNetworkId`]: undefined }, 'externalNetworkId: Required value'],
    ['two networks', { [`${openstack}.externalNetwork`]: 'other' }, 'remove one of them'],
    ['two providers', { 'provider.config.aws': {} }, 'must have exactly one provider'],
    ['no provider', { [openstack]: undefined }, 'name a provider'],
    ['another version', { 'provider.kubernetes.version': '2.0.0' }, 'must start with 1. or v1.'],
    ['a version without a patch', { 'provider.kubernetes.version': '1.32' }, 'such as 1.32.0'],
    ['a bad id of a pool', { 'nodes.workerPools.1st': { replicas: 1 } }, 'start with a letter'],
    ['a long id of a pool', { [`nodes.workerPools.${'a'.repeat(40)}`]: { replicas: 1 } }, 'no more than 50'],
    ['min without max', { 'nodes.workerPools.default.min': 1 }, 'min and max are given both or neither'],
    [
      'min above max',
      { 'nodes.workerPools.default.min': 3, 'nodes.workerPools.default.max': 2 },
      'at most max, which is 2',
    ],
    [
      'a label no kubelet may set',
      { 'nodes.workerPools.default.labels': { 'kubernetes.io/os': 'x' } },
      'may not set it',
    ],
    ['a range of nodes that Pods have', { [`${openstack}.nodeCidr`]: '192.168.4.0/24' }, 'the addresses of Pods'],
    ['no range', { [`${openstack}.nodeCidr`]: 'all' }, 'nodeCidr'],
    ['a name instead of an address', { [`${openstack}.dnsNameservers`]: ['dns.example'] }, 'dnsNameservers[0]'],
    [
      'a type without a volume',
      { [`${openstack}.cpRootVolumeSizeGb`]: undefined },
      'cpRootVolumeType is of a volume: say its size',
    ],
    ['one port for two things', { 'endpoints.grpcPort': 8443 }, 'endpoints.grpcPort: Invalid value: 8443'],
    ['endpoints and another parentConfig', { parentConfig: { grpcPort: 1 } }, 'remove one of them'],
  ])('is refused with %s', (_, changes, text) => {
    expect(created(defaulted(cluster(changes))).join('\n')).toContain(text);
  });

  it('is refused by the schema with an unknown bootstrap or without an image', () => {
    const bad = cluster({ 'provider.kubernetes.bootstrap': 'k3s', [`${openstack}.imageName`]: undefined });
    const said = refusedBySchema(bad).join('\n');
    expect(said).toContain('"kubeadm", "rke2"');
    expect(said).toContain('imageName: Required value');
  });

  it('refuses changes of bootstrap and networks, and accepts other changes', () => {
    const old = defaulted(cluster());
    const change = (changes: Readonly<Record<string, JsonValue>>) => updated(defaulted(cluster(changes)), old);
    expect(change({ 'provider.kubernetes.bootstrap': 'rke2' }).join()).toContain(
      'field is immutable; it was "kubeadm"',
    );
    expect(change({ [`${openstack}.nodeCidr`]: '10.7.0.0/24' }).join()).toContain('field is immutable');
    expect(change({ [`${openstack}.imageName`]: 'Ubuntu 24.04', 'nodes.controlPlane': 5 })).toEqual([]);
  });

  it('warns about fields that no controller acts on', () => {
    const warnings = strategyOf('LatticeCluster').warnings?.(
      cluster({ 'workload.services': [{ name: 'a' }], 'nodes.workerPools.default.nodeClass': 'big' }),
    );
    expect(warnings).toEqual([
      'spec.workload.services: no controller acts on it',
      'spec.nodes.workerPools[default].nodeClass: not acted on; write instanceType.name for another flavor',
    ]);
  });

  it('is refused with a name that machines cannot be named after', () => {
    const check = (name: string) => strategyOf('LatticeCluster').validateName?.(name);
    expect(check('my-cluster')).toEqual([]);
    expect(check('a.b')?.join()).toContain('DNS-1035');
    expect(check('a'.repeat(44))?.join()).toContain('no more than 43 characters');
  });
});
