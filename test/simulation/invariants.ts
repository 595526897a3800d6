import {
  clusters,
  openStackClusters,
  openStackFloatingIPPools,
  openStackMachines,
  openStackServers,
} from '../../src/api/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import type { System } from './system.ts';

/** A promise that was not kept. */
export class BrokenPromise extends Error {
  constructor(promise: string, detail: string) {
    super(`${promise}: ${detail}`);
    this.name = 'BrokenPromise';
  }
}

interface CloudThing {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** the owner written on it; undefined: not made by the controllers */
  readonly owner: string | undefined;
  readonly role: string;
}

const markPattern = /\[owner ([0-9a-f-]+)(?: ([^\]]+))?\]$/;
const ownerKinds: readonly Resource<KubeObject>[] = [openStackClusters, openStackServers, openStackFloatingIPPools];
const ownerMarkAnnotation = 'infrastructure.cluster.x-k8s.io/owner-mark';

/** Everything in the cloud, whoever made it. */
export async function census({ admin }: System): Promise<CloudThing[]> {
  const described = async (
    type: string,
    items: AsyncIterable<{ id: string; name?: string; description?: string | undefined }>,
  ): Promise<CloudThing[]> =>
    (await collect(items)).map(({ id, name = '', description }) => {
      const mark = markPattern.exec(description ?? '');
      return { type, id, name, owner: mark?.[1], role: mark?.[2] ?? '' };
    });
  const labelled = async (
    type: string,
    items: AsyncIterable<{ id: string; name?: string | undefined; metadata: Readonly<Record<string, string>> }>,
  ): Promise<CloudThing[]> =>
    (await collect(items)).map(({ id, name = '', metadata }) => ({
      type,
      id,
      name,
      owner: metadata['capstan-owner'],
      role: '',
    }));
  const { network, compute, volume, loadBalancer } = admin;
  const all = await Promise.all([
    described('network', network.networks.list()),
    described('subnet', network.subnets.list()),
    described('router', network.routers.list()),
    described('port', network.ports.list()),
    described('security group', network.securityGroups.list()),
    described('floating IP', network.floatingIps.list()),
    described('load balancer', loadBalancer.loadBalancers.list()),
    labelled('server', compute.servers.list({ allTenants: true })),
    labelled('volume', volume.volumes.list({ allTenants: true })),
  ]);
  return all.flat();
}

async function ownersIn({ client }: System): Promise<Set<string>> {
  const owners = new Set<string>();
  for (const kind of ownerKinds) {
    for (const object of (await client.list(kind, {})).items as KubeObject[]) {
      if (object.metadata.uid !== undefined) owners.add(object.metadata.uid);
      const mark = object.metadata.annotations?.[ownerMarkAnnotation];
      if (mark !== undefined) owners.add(mark);
    }
  }
  return owners;
}

/** Nothing is left behind by somebody who no longer knows of it, and nothing is made twice. */
async function checkOwnership(system: System): Promise<void> {
  // First the things, then the owners: what is made in between has its owner before it.
  const things = await census(system);
  const owners = await ownersIn(system);
  const seen = new Map<string, CloudThing>();
  for (const thing of things) {
    if (thing.owner === undefined) continue;
    if (!owners.has(thing.owner)) {
      throw new BrokenPromise('no cloud resource without an owner', `${thing.type} ${thing.name} (${thing.id})`);
    }
    const key = JSON.stringify([thing.type, thing.name, thing.owner, thing.role]);
    const other = seen.get(key);
    if (other)
      throw new BrokenPromise('nothing is made twice', `${thing.type} ${thing.name}: ${other.id} and ${thing.id}`);
    seen.set(key, thing);
  }
}

/** Whoever serves an API says that etcd agrees: a majority is never given away. */
async function checkQuorum(system: System): Promise<void> {
  const { machines } = system.cloud;
  // whoever deletes a cluster gives up its etcd with it
  const living = new Set<string>();
  for (const { metadata } of (await system.client.list(clusters, {})).items) {
    if (!metadata.deletionTimestamp) living.add(metadata.name ?? '');
  }
  for (const { metadata, status } of (await system.client.list(openStackMachines, {})).items) {
    if (metadata.labels?.['cluster.x-k8s.io/control-plane'] === undefined) continue;
    if (!living.has(metadata.labels['cluster.x-k8s.io/cluster-name'] ?? '')) continue;
    const id = (status as { instanceID?: string } | undefined)?.instanceID;
    const machine = id === undefined ? undefined : machines?.running(id);
    if (!machine) continue;
    let api: ReturnType<typeof machine.network.dial>['api'];
    try {
      api = machine.network.dial(machine.addresses[0]!, 6443, machine).api;
    } catch {
      continue; // it does not serve (yet, or any more)
    }
    await api?.raw('/readyz').catch((error: unknown) => {
      throw new BrokenPromise(
        'a majority of etcd is never given away',
        `${metadata.name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  }
}

/** The address of an API leads to the control plane of its cluster, or nowhere. */
async function checkAddresses(system: System): Promise<void> {
  const floating = await collect(system.admin.network.floatingIps.list());
  const ports = new Map((await collect(system.admin.network.ports.list())).map((port) => [port.id, port]));
  const balancers = await collect(system.admin.loadBalancer.loadBalancers.list());
  for (const { metadata, spec } of (await system.client.list(clusters, {})).items) {
    const host = spec.controlPlaneEndpoint?.host;
    const floatingIp = floating.find(({ address }) => address === host);
    const port = floatingIp?.portId ? ports.get(floatingIp.portId) : undefined;
    if (!port) continue;
    const servers = port.deviceOwner.startsWith('compute:')
      ? [await system.admin.compute.servers.get(port.deviceId).catch(() => undefined)]
      : [];
    const leadsTo = servers[0]?.name ?? balancers.find(({ vipPortId }) => vipPortId === port.id)?.name ?? port.name;
    const isRight =
      leadsTo.startsWith(`${metadata.name}-control-plane-`) ||
      leadsTo === `k8s-clusterapi-cluster-${metadata.namespace}-${metadata.name}-kubeapi`;
    if (!isRight) {
      throw new BrokenPromise('the API address leads to its control plane', `${host} leads to ${leadsTo}`);
    }
  }
}

/** The promises that hold at every moment. */
export async function checkPromises(system: System): Promise<void> {
  await checkOwnership(system);
  await checkQuorum(system);
  await checkAddresses(system);
}

/** What was in the cloud before, to compare with what is there afterwards. */
export async function foreignThings(system: System): Promise<string[]> {
  return (
    (await census(system))
      // neutron makes a group named default for a project when somebody first looks
      .filter(({ owner, type, name }) => owner === undefined && type !== 'port' && name !== 'default')
      .map(({ type, id, name }) => `${type} ${name} ${id}`)
      .sort()
  );
}

export async function checkForeign(system: System, before: readonly string[]): Promise<void> {
  const now = await foreignThings(system);
  const gone = before.filter((thing) => !now.includes(thing));
  if (gone.length > 0) throw new BrokenPromise('nothing foreign is touched', `gone: ${gone.join(', ')}`);
}

/** After the last cluster is gone the cloud is as it was. */
export async function checkNothingLeft(system: System, before: readonly string[]): Promise<void> {
  const marked = (await census(system)).filter(({ owner }) => owner !== undefined);
  if (marked.length > 0) {
    throw new BrokenPromise('deletion reaches zero', marked.map(({ type, name }) => `${type} ${name}`).join(', '));
  }
  const now = await foreignThings(system);
  const left = now.filter((thing) => !before.includes(thing));
  if (left.length > 0) throw new BrokenPromise('deletion reaches zero', `left over: ${left.join(', ')}`);
  await checkForeign(system, before);
}
