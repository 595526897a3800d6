import {
  Clusters,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  OpenStackMachines,
  OpenStackServers,
} from '../../src/api/index.ts';
import type { Client } from '../../src/client/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';
import { InvariantViolation } from './broken-promise.ts';
import { checkHooks } from './hooks.ts';
import { checkConditions } from './listed-conditions.ts';
import type { System } from './system.ts';

export { InvariantViolation } from './broken-promise.ts';

interface CloudThing {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** owner in its tags; undefined: not created by the controllers */
  readonly owner: string | undefined;
  readonly role: string;
}

const describedKinds = [
  ['networks', 'network'],
  ['subnets', 'subnet'],
  ['routers', 'router'],
  ['ports', 'port'],
  ['securityGroups', 'security group'],
  ['floatingIps', 'floating IP'],
  ['loadBalancers', 'load balancer'],
] as const;
const labelledKinds = [
  ['servers', 'server'],
  ['volumes', 'volume'],
] as const;
const markPattern = /\[owner ([0-9a-f-]+)(?: ([^\]]+))?\]$/;
const ownerKinds: readonly Resource<KubeObject>[] = [OpenStackClusters, OpenStackServers, OpenStackFloatingIPPools];
const ownerMarkAnnotation = 'infrastructure.cluster.x-k8s.io/owner-mark';

/** Lists everything in the cloud, regardless of its creator. */
export function census({ rows }: System): CloudThing[] {
  const things: CloudThing[] = [];
  for (const [kind, type] of describedKinds) {
    for (const { id, name, description } of rows.of(kind)) {
      const mark = markPattern.exec(description ?? '');
      things.push({ type, id, name: name ?? '', owner: mark?.[1], role: mark?.[2] ?? '' });
    }
  }
  for (const [kind, type] of labelledKinds) {
    for (const { id, name, metadata } of rows.of(kind)) {
      things.push({ type, id, name: name ?? '', owner: metadata['capstan-owner'], role: '' });
    }
  }
  return things;
}

async function ownersIn(clients: readonly Client[]): Promise<Set<string>> {
  const owners = new Set<string>();
  for (const [client, kind] of clients.flatMap((each) => ownerKinds.map((kind) => [each, kind] as const))) {
    for (const object of (await client.list(kind, {})).items as KubeObject[]) {
      if (object.metadata.uid !== undefined) owners.add(object.metadata.uid);
      const mark = object.metadata.annotations?.[ownerMarkAnnotation];
      if (mark !== undefined) owners.add(mark);
    }
  }
  return owners;
}

/** Checks that every resource has an existing owner, and that none exists twice. */
export async function checkOwnership(system: System, clients: readonly Client[] = [system.client]): Promise<void> {
  // Reads resources before owners, because an owner always exists before its resources.
  const things = census(system);
  const owners = await ownersIn(clients);
  const seen = new Map<string, CloudThing>();
  for (const thing of things) {
    if (thing.owner === undefined) continue;
    if (!owners.has(thing.owner)) {
      throw new InvariantViolation('no cloud resource without an owner', `${thing.type} ${thing.name} (${thing.id})`);
    }
    const key = JSON.stringify([thing.type, thing.name, thing.owner, thing.role]);
    const other = seen.get(key);
    if (other)
      throw new InvariantViolation('nothing is made twice', `${thing.type} ${thing.name}: ${other.id} and ${thing.id}`);
    seen.set(key, thing);
  }
}

/** Checks that every running API server is ready, which requires a majority of etcd members. */
async function checkQuorum(system: System): Promise<void> {
  const { machines } = system.cloud;
  // Deleting a cluster also gives up its etcd.
  const living = new Set<string>();
  for (const { metadata } of (await system.client.list(Clusters, {})).items) {
    if (!metadata.deletionTimestamp) living.add(metadata.name ?? '');
  }
  for (const { metadata, status } of (await system.client.list(OpenStackMachines, {})).items) {
    if (metadata.labels?.['cluster.x-k8s.io/control-plane'] === undefined) continue;
    if (!living.has(metadata.labels['cluster.x-k8s.io/cluster-name'] ?? '')) continue;
    const id = (status as { instanceID?: string } | undefined)?.instanceID;
    const machine = id === undefined ? undefined : machines?.running(id);
    if (!machine) continue;
    let api: ReturnType<typeof machine.network.dial>['api'];
    try {
      api = machine.network.dial(machine.addresses[0]!, 6443, machine).api;
    } catch {
      continue; // Not serving at the moment.
    }
    await api?.raw('/readyz').catch((error: unknown) => {
      throw new InvariantViolation(
        'a majority of etcd is never given away',
        `${metadata.name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  }
}

/** Checks that the address of an API leads to its control plane, or nowhere. */
async function checkAddresses({ client, rows }: System): Promise<void> {
  const floating = rows.of('floatingIps');
  const ports = new Map(rows.of('ports').map((port) => [port.id, port]));
  for (const { metadata, spec } of (await client.list(Clusters, {})).items) {
    const host = spec.controlPlaneEndpoint?.host;
    const port = ports.get(floating.find((each) => each.floating_ip_address === host)?.port_id ?? '');
    if (!port) continue;
    const leadsTo =
      rows.of('servers').find(({ id }) => id === port.device_id)?.name ??
      rows.of('loadBalancers').find((balancer) => balancer.vip_port_id === port.id)?.name ??
      port.name ??
      '';
    const isRight =
      leadsTo.startsWith(`${metadata.name}-control-plane-`) ||
      leadsTo === `k8s-clusterapi-cluster-${metadata.namespace}-${metadata.name}-kubeapi`;
    if (!isRight) {
      throw new InvariantViolation('the API address leads to its control plane', `${host} leads to ${leadsTo}`);
    }
  }
}

const lastSeen = new WeakMap<System, number>();

/** Checks the invariants that always hold. Objects and cloud are read only if they changed since the last check. */
export async function checkInvariants(system: System): Promise<void> {
  await checkHooks(system);
  await checkQuorum(system);
  const revision = system.revision();
  if (lastSeen.get(system) === revision) return;
  lastSeen.set(system, revision);
  await checkOwnership(system);
  await checkAddresses(system);
  await checkConditions(system);
}

/** Returns the resources of others in the cloud, for comparison. */
export function foreignThings(system: System): string[] {
  return (
    census(system)
      // neutron creates a group `default` for a project on its first read.
      .filter(({ owner, type, name }) => owner === undefined && type !== 'port' && name !== 'default')
      .map(({ type, id, name }) => `${type} ${name} ${id}`)
      .sort()
  );
}

export function checkForeign(system: System, before: readonly string[]): void {
  const now = foreignThings(system);
  const gone = before.filter((thing) => !now.includes(thing));
  if (gone.length > 0) throw new InvariantViolation('nothing foreign is touched', `gone: ${gone.join(', ')}`);
}

/** Checks that nothing is left in the cloud after the last cluster is deleted. */
export function checkNothingLeft(system: System, before: readonly string[]): void {
  const marked = census(system).filter(({ owner }) => owner !== undefined);
  if (marked.length > 0) {
    throw new InvariantViolation('deletion reaches zero', marked.map(({ type, name }) => `${type} ${name}`).join(', '));
  }
  const now = foreignThings(system);
  const left = now.filter((thing) => !before.includes(thing));
  if (left.length > 0) throw new InvariantViolation('deletion reaches zero', `left over: ${left.join(', ')}`);
  checkForeign(system, before);
}
