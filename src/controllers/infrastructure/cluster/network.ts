import type { ManagedSubnet, NetworkStatus } from '../../../api/index.ts';
import { cidrFamily, deepEqual } from '../../../machinery/index.ts';
import { collect, type Network, type Subnet } from '../../../openstack/index.ts';
import { resolveNetwork, resolveSubnet } from '../common/filters.ts';
import { clusterDescription, networkName, subnetName } from '../common/names.ts';
import { attempt, UnusableInput, type Wait } from '../common/outcomes.ts';
import { carriesMark, ownerMark } from '../common/ownership.ts';
import { managesNetwork } from './desired.ts';
import { record } from './events.ts';
import { beginToMake, type ClusterScope, follow, look, statusOf, wasThereBefore } from './scope.ts';
import { ensureTags, oldest, tagsOf } from './tags.ts';

/** Reconciles the network of the nodes, managed or user-supplied. */
export async function reconcileNetwork(scope: ClusterScope): Promise<Wait | undefined> {
  const { network, subnets } = managesNetwork(scope.draft.spec)
    ? await managedNetwork(scope)
    : await broughtNetwork(scope);
  statusOf(scope).network = networkStatus(network, subnets);
  return undefined;
}

export function networkStatus(network: Network, subnets: readonly Subnet[]): NetworkStatus {
  return {
    name: network.name,
    id: network.id,
    ...tagsOf(network),
    subnets: subnets.map((subnet) => ({ name: subnet.name, id: subnet.id, cidr: subnet.cidr, ...tagsOf(subnet) })),
  };
}

interface NetworkWithSubnets {
  readonly network: Network;
  readonly subnets: readonly Subnet[];
}

async function managedNetwork(scope: ClusterScope): Promise<NetworkWithSubnets> {
  const { networks } = scope.access.openstack.network;
  const name = networkName(scope.base);
  const recorded = scope.draft.status?.network?.id;
  let network = await attempt(`network ${name} could not be created`, 'NetworkCreateFailed', async () => {
    const known = recorded === undefined ? undefined : await look(scope, 'network', recorded);
    return known ?? (await findOwnNetwork(scope)) ?? (await createNetwork(scope));
  });
  follow(scope, 'network', network.id);
  network = await attempt(`network ${name} could not be tagged`, 'NetworkCreateFailed', () =>
    ensureTags(scope, network, networks),
  );
  const known = await subnetsOf(scope, network);
  const subnets: Subnet[] = [];
  for (const [index, desired] of (scope.draft.spec.managedSubnets ?? []).entries()) {
    subnets.push(
      await attempt(`subnet ${desired.cidr} of network ${name} could not be created`, 'SubnetCreateFailed', () =>
        ensureSubnet(scope, network, known, desired, index),
      ),
    );
  }
  network = { ...network, subnetIds: [...new Set([...network.subnetIds, ...subnets.map(({ id }) => id)])] };
  scope.access.view.remember('network', network);
  return { network, subnets };
}

/** Finds the network with our mark, regardless of others with its name. Upstream's provider sets only the name. */
export async function findOwnNetwork(scope: ClusterScope): Promise<Network | undefined> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const named = await collect(
    openstack.network.networks.list({ name: networkName(scope.base), projectId }, { signal }),
  );
  const upstreams = (network: Network): boolean => scope.isBegunByUpstream && network.description === '';
  return oldest(named.filter((network) => carriesMark(network, scope.owner) || upstreams(network)));
}

async function createNetwork(scope: ClusterScope): Promise<Network> {
  await beginToMake(scope);
  const { access, context, draft, base, owner } = scope;
  const { mtu, enablePortSecurity } = draft.spec.managedNetwork ?? {};
  const network = await access.openstack.network.networks.create(
    {
      name: networkName(base),
      description: clusterDescription(base, ownerMark(owner)),
      adminStateUp: true,
      ...(mtu !== undefined && mtu > 0 && { mtu }),
      ...(enablePortSecurity === false && { portSecurityEnabled: false }),
    },
    { signal: context.signal },
  );
  record(scope, 'SuccessfulCreateNetwork', `Created network ${network.name} with id ${network.id}`);
  access.view.remember('network', network);
  scope.memory.subnets.clear();
  return network;
}

/** Returns the subnets of a network, from memory as long as the network lists them all. */
async function subnetsOf(scope: ClusterScope, network: Network): Promise<Subnet[]> {
  const { subnets } = scope.memory;
  if (network.subnetIds.length === 0) return [];
  const isKnown = (): boolean => network.subnetIds.every((id) => subnets.has(id));
  if (!isKnown() && wasThereBefore(scope)) {
    for (const subnet of await subnetsOfProject(scope)) {
      if (subnet.networkId === network.id) subnets.set(subnet.id, subnet);
    }
  }
  if (!isKnown()) {
    const { signal } = scope.context;
    const listed = await attempt(`subnets of network ${network.name} could not be listed`, 'SubnetCreateFailed', () =>
      collect(scope.access.openstack.network.subnets.list({ networkId: network.id }, { signal })),
    );
    subnets.clear();
    for (const subnet of listed) subnets.set(subnet.id, subnet);
  }
  return network.subnetIds.flatMap((id) => subnets.get(id) ?? []);
}

/** Shared list, so that after a restart one request serves all clusters. */
async function subnetsOfProject(scope: ClusterScope): Promise<readonly Subnet[]> {
  const { openstack, projectId } = scope.access;
  return attempt('the subnets of the project could not be listed', 'SubnetCreateFailed', () =>
    scope.lookups.get(openstack, 'subnets', () => collect(openstack.network.subnets.list({ projectId }))),
  );
}

async function ensureSubnet(
  scope: ClusterScope,
  network: Network,
  known: readonly Subnet[],
  desired: ManagedSubnet,
  index: number,
): Promise<Subnet> {
  const { subnets } = scope.access.openstack.network;
  const { signal } = scope.context;
  let subnet = known.find(({ cidr }) => cidr === desired.cidr) ?? (await createSubnet(scope, network, desired, index));
  const servers = desired.dnsNameservers ?? [];
  if (!deepEqual([...subnet.dnsNameservers], servers)) {
    subnet = await subnets.update(subnet.id, { dnsNameservers: servers }, { signal });
    record(scope, 'SuccessfulUpdateSubnet', `Updated subnet ${subnet.name} with id ${subnet.id}`);
  }
  subnet = await ensureTags(scope, subnet, subnets);
  scope.memory.subnets.set(subnet.id, subnet);
  return subnet;
}

async function createSubnet(
  scope: ClusterScope,
  network: Network,
  desired: ManagedSubnet,
  index: number,
): Promise<Subnet> {
  const { access, context, base, owner } = scope;
  const isV6 = cidrFamily(desired.cidr) === 'IPv6';
  const subnet = await access.openstack.network.subnets.create(
    {
      networkId: network.id,
      name: subnetName(base, index),
      description: clusterDescription(base, ownerMark(owner)),
      cidr: desired.cidr,
      ipVersion: isV6 ? 6 : 4,
      // without a mode, nodes would not learn their addresses
      ...(isV6 && { ipv6AddressMode: 'dhcpv6-stateful', ipv6RaMode: 'dhcpv6-stateful' }),
      ...(desired.dnsNameservers && desired.dnsNameservers.length > 0 && { dnsNameservers: desired.dnsNameservers }),
      ...(desired.allocationPools &&
        desired.allocationPools.length > 0 && { allocationPools: desired.allocationPools }),
    },
    { signal: context.signal },
  );
  record(scope, 'SuccessfulCreateSubnet', `Created subnet ${subnet.name} with id ${subnet.id}`);
  return subnet;
}

/** Reads a user-supplied network once and follows it; it is never changed. */
async function broughtNetwork(scope: ClusterScope): Promise<NetworkWithSubnets> {
  const recorded = scope.draft.status?.network;
  return attempt('the network of the cluster could not be found', 'NetworkCreateFailed', async () => {
    if (recorded?.id && (recorded.subnets?.length ?? 0) > 0) return confirmBrought(scope, recorded);
    const found = await resolveBrought(scope);
    follow(scope, 'network', found.network.id);
    scope.access.view.remember('network', found.network);
    for (const subnet of found.subnets) scope.memory.subnets.set(subnet.id, subnet);
    return found;
  });
}

async function confirmBrought(scope: ClusterScope, recorded: NetworkStatus): Promise<NetworkWithSubnets> {
  const network = await look(scope, 'network', recorded.id);
  if (!network) {
    throw new UnusableInput(
      `network ${recorded.name} (${recorded.id}) does not exist any more, or is not shared with this project any more; the cluster cannot do without it`,
    );
  }
  const known = await subnetsOf(scope, network);
  const subnets = (recorded.subnets ?? []).map((subnet) => {
    const found = known.find(({ id }) => id === subnet.id);
    if (found) return found;
    throw new UnusableInput(
      `subnet ${subnet.name} (${subnet.id}) of network ${network.name} does not exist any more; the cluster cannot do without it`,
    );
  });
  return { network, subnets };
}

async function resolveBrought(scope: ClusterScope): Promise<NetworkWithSubnets> {
  const { access, context, draft } = scope;
  const { openstack } = access;
  const { signal } = context;
  const { network: param, subnets: params = [] } = draft.spec;
  let network = param && (await resolveNetwork(openstack, param, { field: 'spec.network', signal }));
  const subnets: Subnet[] = [];
  for (const [index, subnet] of params.entries()) {
    // without a specified network, the first subnet determines it
    const networkId = network?.id ?? subnets[0]?.networkId;
    subnets.push(await resolveSubnet(openstack, subnet, { field: `spec.subnets[${index}]`, networkId, signal }));
  }
  const [first] = subnets;
  if (!network) {
    if (!first) {
      throw new UnusableInput(
        'the cluster has no network: give spec.managedSubnets to have one made, or name one in spec.network or spec.subnets',
      );
    }
    network = await openstack.network.networks.get(first.networkId, { signal });
  }
  if (first) return { network, subnets };
  const all = await collect(openstack.network.subnets.list({ networkId: network.id }, { signal }));
  if (all.length === 0) {
    throw new UnusableInput(`network ${network.name} (${network.id}) has no subnet; add one, or name another network`);
  }
  return { network, subnets: all };
}
