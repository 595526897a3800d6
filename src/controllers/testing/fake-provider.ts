import { clusterNameLabel, type Machine, Machines, type Node, Nodes } from '../../api/index.ts';
import { type Client, objectKey } from '../../client/index.ts';
import { asJson, isNotFound, type JsonObject, type Resource, type UnstructuredObject } from '../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import { at, controllerOf, textAt } from '../shared/index.ts';
import { FakeClusters, FakeConfigs, FakeControlPlanes, FakeMachines } from './provider-kinds.ts';

const by = { fieldManager: 'fake-provider' };

export interface FakeProviderOptions {
  /** cluster that Nodes join */
  workload?: Client;
  /** boot time of a machine */
  bootMs?: number;
  /** contract version of the kinds */
  contract?: 'v1beta1' | 'v1beta2';
  /** machines with these names never start */
  broken?: (name: string) => boolean;
  /** infrastructure of these machines is never deleted */
  stuck?: (name: string) => boolean;
  /** runs when a machine has booted, instead of creating a plain Node */
  boot?: (machine: Machine, providerId: string) => Promise<void>;
  /** runs when a machine is switched off */
  halt?: (name: string) => Promise<void>;
}

const finalizer = 'fake.example/protect';

/** Minimal controllers that implement the provider contract, for tests of the cluster controllers. */
export function fakeProvider(options: FakeProviderOptions = {}): ControllerDefinition[] {
  const old = options.contract === 'v1beta1';
  const provisioned: JsonObject = old ? { ready: true } : { initialization: { provisioned: true } };

  const status = async (
    client: Client,
    resource: Resource<UnstructuredObject>,
    object: UnstructuredObject,
    patch: JsonObject,
  ): Promise<void> => {
    await client.patch(resource, objectKey(object), 'merge', { status: patch }, { ...by, subresource: 'status' });
  };
  const release = async (
    client: Client,
    resource: Resource<UnstructuredObject>,
    object: UnstructuredObject,
  ): Promise<void> => {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    await client.patch(resource, objectKey(object), 'merge', { metadata: { finalizers } }, by);
  };
  const protect = async (
    client: Client,
    resource: Resource<UnstructuredObject>,
    object: UnstructuredObject,
  ): Promise<boolean> => {
    if (object.metadata.finalizers?.includes(finalizer)) return false;
    const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
    await client.patch(resource, objectKey(object), 'merge', { metadata: { finalizers } }, by);
    return true;
  };

  const infraCluster = defineController({
    name: 'fake-cluster',
    for: FakeClusters,
    async reconcile({ client, cache }, key) {
      const object = cache.lister(FakeClusters).get(key);
      if (!object) return done();
      if (object.metadata.deletionTimestamp !== undefined) {
        if (object.metadata.finalizers?.includes(finalizer)) await release(client, FakeClusters, object);
        return done();
      }
      if (await protect(client, FakeClusters, object)) return done();
      if (at(object, 'spec', 'controlPlaneEndpoint') === undefined && at(object, 'spec', 'noEndpoint') !== true) {
        const spec = { controlPlaneEndpoint: { host: '127.0.0.1', port: 6443 } };
        await client.patch(FakeClusters, key, 'merge', { spec }, by);
      }
      if (at(object, 'status') === undefined) await status(client, FakeClusters, object, provisioned);
      return done();
    },
  });

  const bootstrap = defineController({
    name: 'fake-config',
    for: FakeConfigs,
    async reconcile({ client, cache }, key) {
      const object = cache.lister(FakeConfigs).get(key);
      if (!object || object.metadata.deletionTimestamp !== undefined || !controllerOf(object, Machines)) return done();
      if (at(object, 'status') !== undefined || at(object, 'spec', 'hold') === true) return done();
      const created: JsonObject = old ? { ready: true } : { initialization: { dataSecretCreated: true } };
      await status(client, FakeConfigs, object, { ...created, dataSecretName: `${key.name}` });
      return done();
    },
  });

  const infraMachine = defineController({
    name: 'fake-machine',
    for: FakeMachines,
    watches: [
      watchObjects(FakeMachines),
      watchMapped(Machines, ({ metadata, spec }) => [
        { namespace: metadata.namespace ?? '', name: spec.infrastructureRef.name },
      ]),
    ],
    concurrency: 4,
    async reconcile({ client, cache, clock }, key) {
      const object = cache.lister(FakeMachines).get(key);
      if (!object) return done();
      const providerId = `fake:///${object.metadata.uid}`;
      if (object.metadata.deletionTimestamp !== undefined) {
        if (options.stuck?.(key.name) || !object.metadata.finalizers?.includes(finalizer)) return done();
        if (options.halt) await options.halt(key.name);
        else if (options.workload) await stopNode(options.workload, key.name);
        await release(client, FakeMachines, object);
        return done();
      }
      const owner = controllerOf(object, Machines);
      const machine = owner && cache.lister(Machines).get({ namespace: key.namespace ?? '', name: owner.name });
      if (!machine?.spec.bootstrap.dataSecretName) return done();
      if (await protect(client, FakeMachines, object)) return done();
      if (options.broken?.(key.name)) return done();
      const begun = textAt(object, 'spec', 'bootedAt');
      if (begun === undefined) {
        await client.patch(FakeMachines, key, 'merge', { spec: { bootedAt: String(clock.now()) } }, by);
        return done();
      }
      const left = Number(begun) + (options.bootMs ?? 0) - clock.now();
      if (left > 0) return after(left, 'booting');
      if (textAt(object, 'spec', 'providerID') === undefined) {
        await client.patch(FakeMachines, key, 'merge', { spec: { providerID: providerId } }, by);
        return done();
      }
      if (at(object, 'status') === undefined) {
        if (options.boot) await options.boot(machine, providerId);
        else if (options.workload) await startNode(options.workload, machine, providerId);
        const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
        await status(client, FakeMachines, object, { ...provisioned, addresses, failureDomain: 'az1' });
      }
      return done();
    },
  });

  const controlPlane = defineController({
    name: 'fake-control-plane',
    for: FakeControlPlanes,
    async reconcile({ client, cache }, key) {
      const object = cache.lister(FakeControlPlanes).get(key);
      if (!object) return done();
      if (object.metadata.deletionTimestamp !== undefined) {
        if (object.metadata.finalizers?.includes(finalizer)) await release(client, FakeControlPlanes, object);
        return done();
      }
      if (await protect(client, FakeControlPlanes, object)) return done();
      const wanted = textAt(object, 'spec', 'version');
      const hold = at(object, 'spec', 'hold') === true;
      if (hold || (at(object, 'status') !== undefined && textAt(object, 'status', 'version') === wanted)) return done();
      await status(client, FakeControlPlanes, object, {
        ...(old ? { initialized: true, ready: true } : { initialization: { controlPlaneInitialized: true } }),
        externalManagedControlPlane: true,
        ...(wanted !== undefined && { version: wanted }),
        conditions: [
          {
            type: 'Available',
            status: 'True',
            reason: 'Available',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      });
      return done();
    },
  });
  return [infraCluster, bootstrap, infraMachine, controlPlane];
}

const healthy: NonNullable<Node['status']>['conditions'] = [
  { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: '2026-01-01T00:00:00Z' },
  { type: 'MemoryPressure', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
  { type: 'DiskPressure', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
  { type: 'PIDPressure', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
];

async function startNode(workload: Client, machine: Machine, providerID: string): Promise<void> {
  const name = machine.metadata.name ?? '';
  try {
    await workload.get(Nodes, { name });
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await workload.create(
    Nodes,
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { [clusterNameLabel]: machine.spec.clusterName } },
      spec: { providerID, taints: [{ key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' }] },
    },
    by,
  );
  await setNodeConditions(workload, name, healthy, machine.spec.version ?? 'v1.33.0');
}

/** Writes Node conditions as a kubelet does. */
export async function setNodeConditions(
  workload: Client,
  name: string,
  conditions: NonNullable<Node['status']>['conditions'],
  /** kubelet version; unchanged if absent */
  version?: string,
): Promise<void> {
  const status = {
    conditions: asJson(conditions ?? []),
    ...(version !== undefined && { nodeInfo: nodeInfo(version) }),
  };
  await workload.patch(Nodes, { name }, 'merge', { status }, { ...by, subresource: 'status' });
}

const nodeInfo = (version: string): JsonObject => ({
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6.1',
  osImage: 'Debian',
  containerRuntimeVersion: 'containerd://2',
  kubeletVersion: version,
  kubeProxyVersion: version,
  operatingSystem: 'linux',
  architecture: 'amd64',
});

async function stopNode(workload: Client, name: string): Promise<void> {
  try {
    const node = await workload.get(Nodes, { name });
    const gone = (node.status?.conditions ?? []).map((condition) => ({ ...condition, status: 'Unknown' }));
    await setNodeConditions(workload, name, gone);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
