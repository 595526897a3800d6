import { afterEach, describe, expect, it } from 'vitest';
import {
  type Cluster,
  Clusters,
  KubeadmControlPlanes,
  type Machine,
  Machines,
  Nodes,
  OpenStackServers,
  Secrets,
} from '../../src/api/index.ts';
import type { Client } from '../../src/client/index.ts';
import type { KubeObject } from '../../src/machinery/index.ts';
import { connectInProcess } from '../../src/simulator/index.ts';
import { type ClusterSpec, manifestsOf, namespace } from './cluster-manifests.ts';
import { checkInvariants } from './invariants.ts';
import { by, createSystem, type System } from './system.ts';

const hour = 3_600_000;
let system: System;
afterEach(() => system.stop());

const desired: ClusterSpec = {
  name: 'c0',
  index: 0,
  endpoint: 'floating-ip',
  controlPlanes: 3,
  workers: 1,
  version: 'v1.33.6',
  flavor: 'm1.medium',
  bootFromVolume: false,
  healthCheck: false,
};

type Conditions = { type: string; status: string; reason?: string; message?: string }[];
const conditionOf = (object: KubeObject, type: string): Conditions[number] | undefined =>
  (object as { status?: { conditions?: Conditions } }).status?.conditions?.find((each) => each.type === type);

async function until(what: string, condition: () => Promise<boolean>, limitMs = hour): Promise<void> {
  let events = 0;
  const reached = await system.until(async () => events++ % 10 === 0 && (await condition()), limitMs);
  expect(reached || (await condition()), what).toBe(true);
}

const cluster = (): Promise<Cluster> => system.client.get(Clusters, { namespace, name: 'c0' });

async function machinesOf(role: 'control-plane' | 'md'): Promise<Machine[]> {
  const { items } = await system.client.list(Machines, { namespace });
  return items
    .filter(({ metadata }) => metadata.name?.startsWith(`c0-${role}-`))
    .toSorted((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1));
}

const isReady = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp === undefined && conditionOf(machine, 'Ready')?.status === 'True';

async function isWhole(controlPlanes = desired.controlPlanes, workers = desired.workers): Promise<boolean> {
  const [planes, others] = [await machinesOf('control-plane'), await machinesOf('md')];
  if (planes.length !== controlPlanes || others.length !== workers) return false;
  return [...planes, ...others].every(isReady) && conditionOf(await cluster(), 'Available')?.status === 'True';
}

async function begin(seed: number, changes: Partial<ClusterSpec> = {}): Promise<void> {
  system = await createSystem({ seed });
  const wanted = { ...desired, ...changes };
  for (const { resource, object } of manifestsOf(wanted)) await system.client.create(resource, object, by);
  await until('the cluster is there', () => isWhole(wanted.controlPlanes, wanted.workers));
}

async function workload(): Promise<Client> {
  const { data } = await system.client.get(Secrets, { namespace, name: 'c0-kubeconfig' });
  const api = await connectInProcess(system.cloud.network)(Buffer.from(data?.['value'] ?? '', 'base64').toString());
  return api.client;
}

/** Returns the log entries of a machine in order. */
function lifeOf(name: string | undefined): string[] {
  return system.entries
    .filter(({ level, fields }) => level !== 'debug' && [fields['machine'], fields['server']].includes(name))
    .map(({ message }) => message);
}

const wholeLife = [
  'Machine created',
  'Server created',
  'Server is ACTIVE',
  'Node joined',
  'Server is gone',
  'Server deleted',
  'Machine deleted',
];

const serverOf = ({ spec }: Machine): string => spec.providerID?.split('/').at(-1) ?? '';

describe('a server that is permanently lost', () => {
  it('is replaced without a health check, as a worker and as a control plane', async () => {
    await begin(11);
    const [worker] = await machinesOf('md');
    const [plane] = await machinesOf('control-plane');
    system.cloud.operator.deleteServer(serverOf(worker!));
    system.cloud.operator.deleteServer(serverOf(plane!));
    const lost = [worker!.metadata.name, plane!.metadata.name];
    await until('both are replaced', async () => {
      const all = [...(await machinesOf('md')), ...(await machinesOf('control-plane'))];
      return !all.some(({ metadata }) => lost.includes(metadata.name)) && (await isWhole());
    });
    await checkInvariants(system);
    expect(JSON.stringify(system.entries)).not.toContain('[redacted]');
    const api = await workload();
    const nodes = (await api.list(Nodes, {})).items.map(({ metadata }) => metadata.name);
    expect(nodes.filter((name) => lost.includes(name))).toEqual([]);
    const kubeadm = await system.client.get(KubeadmControlPlanes, { namespace, name: 'c0-control-plane' });
    for (const name of lost) expect(lifeOf(name)).toEqual(wholeLife);
    // Every etcd member has a Machine.
    expect(conditionOf(kubeadm, 'EtcdClusterHealthy')?.status).toBe('True');
  });

  it('is not replaced where an annotation says so', async () => {
    await begin(12, { controlPlanes: 1 });
    const [worker] = await machinesOf('md');
    const annotations = { 'cluster.x-k8s.io/skip-remediation': '' };
    await system.client.patch(Clusters, { namespace, name: 'c0' }, 'merge', { metadata: { annotations } }, by);
    system.cloud.operator.deleteServer(serverOf(worker!));
    const name = worker!.metadata.name!;
    const readiness = async () =>
      conditionOf(await system.client.get(Machines, { namespace, name }), 'InfrastructureReady');
    await until('it is called gone', async () => (await readiness())?.reason === 'InstanceGone');
    await system.pass(hour);
    expect((await machinesOf('md')).map(({ metadata }) => metadata.name)).toEqual([name]);
    const none = { metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': null } } };
    await system.client.patch(Clusters, { namespace, name: 'c0' }, 'merge', none, by);
    await until('it is replaced', async () => {
      const [only, ...more] = await machinesOf('md');
      return more.length === 0 && only !== undefined && only.metadata.name !== name && isReady(only);
    });
  });

  it('is not assumed from credentials of another project or from an outage', async () => {
    await begin(13, { controlPlanes: 1 });
    const before = (await system.client.list(Machines, { namespace })).items.map(({ metadata }) => metadata.uid).sort();
    const secret = { namespace, name: 'cloud-config' };
    const good = (await system.client.get(Secrets, secret)).data?.['clouds.yaml'] ?? '';
    // The other project has none of the servers.
    const text = system.cloudsYaml.replace(/^ {2}openstack:/m, '  mine:').replace(/^ {2}other:/m, '  openstack:');
    const put = (value: string) =>
      system.client.patch(Secrets, secret, 'merge', { data: { 'clouds.yaml': value } }, by);
    await put(Buffer.from(text).toString('base64'));
    const servers = async () => (await system.client.list(OpenStackServers, { namespace })).items;
    await until('the servers are missed', async () =>
      (await servers()).every((server) => conditionOf(server, 'InstanceReady')?.status === 'False'),
    );
    await system.pass(hour);
    for (const server of await servers()) {
      expect(conditionOf(server, 'InstanceReady')?.message).toContain('made in another project');
    }
    await put(good);
    system.cloud.operator.faults.set({
      id: 'outage',
      when: { project: 'demo' },
      probability: 1,
      seed: 1,
      effect: { kind: 'status', status: 404 },
    });
    await system.pass(20 * 60_000);
    system.cloud.operator.faults.clear();
    await until('all is as before', () => isWhole(1, 1));
    const after = (await system.client.list(Machines, { namespace })).items.map(({ metadata }) => metadata.uid).sort();
    expect(after).toEqual(before);
  });
});

describe('the Node of the etcd leader', () => {
  it('has its machine replaced when Node and Machine are deleted by hand', async () => {
    await begin(14, { workers: 0 });
    // The first member is the leader until leadership is moved.
    const [first] = await machinesOf('control-plane');
    const name = first!.status?.nodeRef?.name ?? '';
    await (await workload()).delete(Nodes, { name });
    await system.pass(60_000);
    await system.client.delete(Machines, { namespace, name: first!.metadata.name! });
    await until('it is replaced', async () => {
      const planes = await machinesOf('control-plane');
      return !planes.some(({ metadata }) => metadata.uid === first!.metadata.uid) && (await isWhole(3, 0));
    });
    await checkInvariants(system);
  });
});

describe('a paused cluster', () => {
  it('says what it waits for when it is deleted, and is deleted when it is resumed', async () => {
    await begin(15, { controlPlanes: 1, workers: 0 });
    const key = { namespace, name: 'c0' };
    await system.client.patch(Clusters, key, 'merge', { spec: { paused: true } }, by);
    await system.client.delete(Clusters, key);
    await until('it says so', async () => conditionOf(await cluster(), 'Deleting')?.reason === 'Paused');
    expect(conditionOf(await cluster(), 'Deleting')?.message).toContain('spec.paused');
    await system.client.patch(Clusters, key, 'merge', { spec: { paused: null } }, by);
    await until('it is gone', async () => (await system.client.list(Clusters, {})).items.length === 0);
  });
});
