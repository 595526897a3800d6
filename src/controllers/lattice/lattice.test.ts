import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Clusters,
  ConfigMaps,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  type LatticeCluster,
  type LatticeClusterSpec,
  LatticeClusters,
  MachineDeployments,
  Namespaces,
  OpenStackClusters,
  OpenStackMachineTemplates,
  RKE2ConfigTemplates,
  RKE2ControlPlanes,
  Secrets,
} from '../../api/index.ts';
import { getCondition, type JsonObject, type KubeObject, must, type Resource } from '../../machinery/index.ts';
import { bringUp as bringUpIn } from './testing/bring-up.ts';
import { by, createLatticeWorld, type LatticeWorld } from './testing/world.ts';

type OpenStackSettings = NonNullable<LatticeClusterSpec['provider']['config']['openstack']>;
const openstackOf = (spec: LatticeClusterSpec): OpenStackSettings => must(spec.provider.config.openstack, 'openstack');
const saysOf = ({ status }: LatticeCluster, type: string): string | undefined =>
  getCondition(status?.conditions, type)?.message;
const statusOf = ({ status }: LatticeCluster, type: string): string | undefined =>
  getCondition(status?.conditions, type)?.status;

describe('a LatticeCluster', () => {
  let world: LatticeWorld;
  beforeAll(async () => {
    world = await createLatticeWorld();
  });
  afterAll(() => world.stop());

  const untilPhase = (name: string, phase: string): Promise<void> =>
    world.until(async () => (await world.cluster(name)).status?.phase === phase);
  const patch = (name: string, spec: JsonObject) =>
    world.client.patch(LatticeClusters, { name }, 'merge', { spec }, by);
  const namesOf = async <T extends KubeObject>(resource: Resource<T>, namespace: string): Promise<string[]> =>
    (await world.list(resource, namespace)).map(({ metadata }) => metadata.name ?? '');
  const bringUp = (name: string, version?: string): Promise<void> => bringUpIn(world, name, version);

  it('becomes the objects of a cluster, and is Ready when they are', async () => {
    await world.create('one');
    await untilPhase('one', 'Provisioning');
    const made = await world.cluster('one');
    expect(made.metadata.finalizers).toEqual(['lattice.dev/unpivot']);
    expect(made.status).toMatchObject({
      observedGeneration: 1,
      readyWorkers: 0,
      message: expect.stringContaining('infrastructure'),
    });
    expect(await namesOf(MachineDeployments, 'capi-one')).toEqual(['one-pool-default']);
    expect((await world.find(OpenStackClusters, { namespace: 'capi-one', name: 'one' }))?.spec).toMatchObject({
      identityRef: { name: 'one-cloud-config' },
      externalNetwork: { id: '375af7fe-a2c1-4c26-a57d-6d33175a6650' },
    });
    // other keys of the Secret are not copied
    const copy = await world.find(Secrets, { namespace: 'capi-one', name: 'one-cloud-config' });
    expect(Object.keys(copy?.data ?? {})).toEqual(['clouds.yaml']);
    await bringUp('one');
    await untilPhase('one', 'Ready');
    expect((await world.cluster('one')).status).toMatchObject({
      readyControlPlane: 3,
      readyWorkers: 2,
      workerPools: { default: { desiredReplicas: 2, currentReplicas: 2, readyReplicas: 2, autoscalingEnabled: false } },
    });
    expect(statusOf(await world.cluster('one'), 'Ready')).toBe('True');
  });

  it('writes nothing and requests nothing from the cloud when nothing changes', async () => {
    await world.pass(10_000);
    const [writes, requests] = [world.writes(), world.requests()];
    await world.pass(3_600_000);
    expect([world.writes(), world.requests()]).toEqual([writes, requests]);
  });

  it('restores objects that others change or delete', async () => {
    const key = { namespace: 'capi-one', name: 'one-pool-default' };
    await world.client.patch(MachineDeployments, key, 'merge', { spec: { replicas: 7 } }, by);
    await world.until(async () => (await world.find(MachineDeployments, key))?.spec.replicas === 2);
    const addon = { namespace: 'capi-one', name: 'one-add-ons-cilium' };
    await world.client.delete(ConfigMaps, addon);
    await world.until(async () => (await world.find(ConfigMaps, addon)) !== undefined);
  });

  it('rolls machines to new templates, and deletes templates that are no longer used', async () => {
    const before = await namesOf(OpenStackMachineTemplates, 'capi-one');
    await patch('one', { provider: { config: { openstack: { workerFlavor: 'b2-30' } } } });
    await world.until(async () => {
      const after = await namesOf(OpenStackMachineTemplates, 'capi-one');
      return after.length === 2 && after.some((name) => !before.includes(name));
    });
    const [deployment] = await world.list(MachineDeployments, 'capi-one');
    expect(await namesOf(OpenStackMachineTemplates, 'capi-one')).toContain(
      deployment?.spec.template.spec.infrastructureRef.name,
    );
    // the status reflects the previous spec
    expect((await world.cluster('one')).status?.phase).toBe('Provisioning');
    await bringUp('one');
    await untilPhase('one', 'Ready');
  });

  it('upgrades workers only after the control plane has the new version', async () => {
    await patch('one', { provider: { kubernetes: { version: '1.33.1' } } });
    const plane = { namespace: 'capi-one', name: 'one-control-plane' };
    await world.until(async () => (await world.find(KubeadmControlPlanes, plane))?.spec.version === 'v1.33.1');
    await world.until(
      async () =>
        (await world.cluster('one')).status?.workerPools?.['default']?.message ===
        'waits until the control plane has v1.33.1, not v1.32.0',
    );
    const version = async (): Promise<string | undefined> =>
      (await world.list(MachineDeployments, 'capi-one'))[0]?.spec.template.spec.version;
    expect(await version()).toBe('v1.32.0');
    expect((await world.cluster('one')).status?.phase).toBe('Provisioning');
    await bringUp('one', 'v1.33.1');
    await world.until(async () => (await version()) === 'v1.33.1');
    const addon = await world.find(ConfigMaps, { namespace: 'capi-one', name: 'one-add-ons-cloud-controller-manager' });
    expect(addon?.data?.['manifests.yaml']).toContain('2.33.1');
  });

  it('adds and removes worker pools', async () => {
    await patch('one', { nodes: { workerPools: { default: null, gpu: { replicas: 1, min: 1, max: 3 } } } });
    await world.until(async () => (await namesOf(MachineDeployments, 'capi-one')).join() === 'one-pool-gpu');
    await world.until(async () =>
      (await namesOf(KubeadmConfigTemplates, 'capi-one')).every((name) => name.startsWith('one-pool-gpu')),
    );
    // an autoscaler owns replicas
    const key = { namespace: 'capi-one', name: 'one-pool-gpu' };
    await world.client.patch(MachineDeployments, key, 'merge', { spec: { replicas: 3 } }, by);
    await world.pass(60_000);
    expect((await world.find(MachineDeployments, key))?.spec.replicas).toBe(3);
    expect((await world.cluster('one')).status?.workerPools?.['gpu']).toMatchObject({
      autoscalingEnabled: true,
      desiredReplicas: 3,
    });
  });

  it('copies changed credentials to its namespace and to the cluster', async () => {
    const source = { namespace: 'capo-system', name: 'openstack-cloud-config' };
    const old = Buffer.from((await world.client.get(Secrets, source)).data?.['clouds.yaml'] ?? '', 'base64').toString();
    const text = Buffer.from(`# rotated\n${old}`).toString('base64');
    await world.client.patch(Secrets, source, 'merge', { data: { 'clouds.yaml': text } }, by);
    const copy = { namespace: 'capi-one', name: 'one-cloud-config' };
    await world.until(async () => (await world.find(Secrets, copy))?.data?.['clouds.yaml'] === text);
  });

  it.each<[string, (spec: LatticeClusterSpec) => void, string]>([
    [
      'network',
      (spec) => Object.assign(openstackOf(spec), { externalNetworkId: 'other' }),
      'no external network "other"',
    ],
    ['image', (spec) => Object.assign(openstackOf(spec), { imageName: 'none' }), 'there is no active image "none"'],
    ['key', (spec) => Object.assign(openstackOf(spec), { sshKeyName: 'none' }), 'capstan create keypair none'],
    ['flavor', (spec) => Object.assign(openstackOf(spec), { cpFlavor: 'none' }), 'there is no flavor "none"'],
    ['zone', (spec) => Object.assign(openstackOf(spec), { workerAvailabilityZone: 'x' }), 'no availability zone "x"'],
    [
      'volume type',
      (spec) => Object.assign(openstackOf(spec), { cpRootVolumeSizeGb: 50, cpRootVolumeType: 'x' }),
      'there is no volume type "x"; the types are',
    ],
    [
      'load balancer flavor',
      (spec) => Object.assign(openstackOf(spec), { apiServerLoadBalancerFlavor: 'x' }),
      'Octavia has no flavor "x"; name one of these as apiServerLoadBalancerFlavor: small, medium',
    ],
    [
      'kind of image',
      (spec) => Object.assign(openstackOf(spec), { imageName: 'cirros' }),
      'neither a stock Ubuntu 22.04 or 24.04',
    ],
    [
      'version on the image',
      (spec) => Object.assign(openstackOf(spec), { imageName: 'ubuntu-capi-image-v1.33.6' }),
      'has Kubernetes v1.33.6 on it, and spec.provider.kubernetes.version says v1.32.0',
    ],
    [
      'disk',
      (spec) => Object.assign(openstackOf(spec), { cpFlavor: 'SCS-4V-8' }),
      'flavor "SCS-4V-8" has no disk: machines of a control plane need a root volume',
    ],
  ])('creates nothing while its %s is not available', async (what, change, text) => {
    const name = `no-${what.replaceAll(' ', '-')}`;
    await world.create(name, change);
    await untilPhase(name, 'Failed');
    const found = await world.cluster(name);
    expect(found.status?.message).toContain(text);
    expect(saysOf(found, 'CloudPrerequisitesMet')).toContain(text);
    expect(await world.find(Namespaces, { name: `capi-${name}` })).toBeUndefined();
    await world.client.delete(LatticeClusters, { name });
    await world.until(async () => (await world.find(LatticeClusters, { name })) === undefined);
  });

  it('continues by itself when what was missing is corrected', async () => {
    await world.create('later', (spec) => Object.assign(openstackOf(spec), { cpFlavor: 'none' }));
    await untilPhase('later', 'Failed');
    await patch('later', { provider: { config: { openstack: { cpFlavor: 'm1.medium' } } } });
    await untilPhase('later', 'Provisioning');
    expect(saysOf(await world.cluster('later'), 'FlavorsRecommended')).toBe(
      'flavor "m1.medium" gives a control plane 2 vCPU, 4 GiB RAM and 40 GiB disk; at least 4 vCPU, 8 GiB RAM and 50 GiB disk are recommended',
    );
  });

  it('puts no credentials into a namespace without its mark', async () => {
    await world.client.create(
      Namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capi-taken' } },
      by,
    );
    await world.create('taken');
    await untilPhase('taken', 'Failed');
    expect((await world.cluster('taken')).status?.message).toContain(
      'kubectl label namespace capi-taken lattice.dev/cluster=taken',
    );
    expect(await world.list(Secrets, 'capi-taken')).toEqual([]);
    const labels = { 'lattice.dev/cluster': 'taken' };
    await world.client.patch(Namespaces, { name: 'capi-taken' }, 'merge', { metadata: { labels } }, by);
    await untilPhase('taken', 'Provisioning');
    // the namespace existed before and stays
    await world.client.delete(LatticeClusters, { name: 'taken' });
    await world.until(async () => (await world.find(LatticeClusters, { name: 'taken' })) === undefined);
    expect((await world.find(Namespaces, { name: 'capi-taken' }))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('creates rke2 objects too', async () => {
    await world.create('rke', (spec) => Object.assign(spec.provider.kubernetes, { bootstrap: 'rke2' }));
    await untilPhase('rke', 'Provisioning');
    expect(await namesOf(RKE2ControlPlanes, 'capi-rke')).toEqual(['rke-control-plane']);
    const [template] = await world.list(RKE2ConfigTemplates, 'capi-rke');
    const [deployment] = await world.list(MachineDeployments, 'capi-rke');
    expect(deployment?.spec.template.spec.bootstrap.configRef?.name).toBe(template?.metadata.name);
  });

  it('reports that no controller acts on another provider', async () => {
    await world.create('docker', ({ provider }) => {
      provider.config = { docker: {} };
    });
    await untilPhase('docker', 'Failed');
    expect((await world.cluster('docker')).status?.message).toContain('only spec.provider.config.openstack');
  });

  it('is deleted after its Cluster, with the namespace that was created for it', async () => {
    const cluster = { namespace: 'capi-one', name: 'one' };
    const hold = { metadata: { finalizers: ['test/hold'] } };
    await world.client.patch(Clusters, cluster, 'merge', hold, by);
    await world.client.delete(LatticeClusters, { name: 'one' });
    await untilPhase('one', 'Deleting');
    expect((await world.cluster('one')).status?.message).toContain('waits until Cluster capi-one/one is gone');
    expect((await world.find(Namespaces, { name: 'capi-one' }))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await world.find(Secrets, { namespace: 'capi-one', name: 'one-cloud-config' })).toBeDefined();
    const { apiVersion, kind, spec } = must(await world.find(Clusters, cluster), 'the Cluster');
    const other = { apiVersion, kind, spec, metadata: { name: 'other', namespace: 'capi-one' } };
    await world.client.create(Clusters, other, by);
    await world.client.patch(Clusters, cluster, 'merge', { metadata: { finalizers: null } }, by);
    await world.until(async () =>
      ((await world.cluster('one')).status?.message ?? '').includes(
        'Cluster capi-one/other would go with the namespace',
      ),
    );
    // the garbage collector deletes the namespace after its owner
    const {
      metadata: { uid },
    } = await world.cluster('one');
    await world.client.delete(Clusters, { namespace: 'capi-one', name: 'other' });
    await world.until(async () => (await world.find(LatticeClusters, { name: 'one' })) === undefined);
    const owners = (await world.find(Namespaces, { name: 'capi-one' }))?.metadata.ownerReferences;
    expect(owners?.map((owner) => owner.uid)).toEqual([uid]);
  });
});

describe('a LatticeCluster in a cloud without Octavia', () => {
  it('is not started, and reports the missing Octavia', async () => {
    const world = await createLatticeWorld({ without: ['load-balancer'] });
    await world.create('one');
    await world.until(async () => (await world.cluster('one')).status?.phase === 'Failed');
    expect((await world.cluster('one')).status?.message).toBe(
      'the cloud has no Octavia, which the API server needs for its load balancer; use a region that has it',
    );
    expect(await world.find(Namespaces, { name: 'capi-one' })).toBeUndefined();
    await world.stop();
  });
});

describe('a LatticeCluster without credentials', () => {
  it('reports the missing Secret', async () => {
    const world = await createLatticeWorld({ withSecret: false });
    await world.create('one');
    await world.until(async () => (await world.cluster('one')).status?.phase === 'Failed');
    expect(saysOf(await world.cluster('one'), 'OpenStackAuthenticationSucceeded')).toBe(
      'Secret capo-system/openstack-cloud-config does not exist; create it with the key clouds.yaml',
    );
    await world.stop();
  });
});
