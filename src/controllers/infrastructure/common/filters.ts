import type {
  NetworkFilter,
  NetworkParam,
  NeutronTags,
  RouterParam,
  SecurityGroupParam,
  ServerGroupParam,
  SubnetFilter,
  SubnetParam,
} from '../../../api/index.ts';
import {
  collect,
  type Network,
  type NetworkCommonFilter,
  type OpenStack,
  orUndefined,
  type Router,
  type SecurityGroup,
  type ServerGroup,
  type Subnet,
} from '../../../openstack/index.ts';
import { UnusableInput } from './outcomes.ts';

/** Path of a parameter in its object, for messages, for example `spec.network`. */
export interface ResolveOptions {
  readonly field: string;
  readonly signal?: AbortSignal | undefined;
}

/** Finds the single network that a parameter selects. */
export async function resolveNetwork(
  cloud: OpenStack,
  param: NetworkParam,
  options: ResolveOptions & { readonly external?: boolean },
): Promise<Network> {
  const { networks } = cloud.network;
  const { signal, external } = options;
  if (param.id !== undefined) return byId('network', param.id, options, networks.get(param.id, { signal }));
  const filter = { ...commonFilter(param.filter), ...(external === true && { external }) };
  return onlyOne(
    external === true ? 'external network' : 'network',
    param.filter,
    options,
    await collect(networks.list(filter, { signal })),
  );
}

/** Finds the single subnet that a parameter selects, within a network if known. */
export async function resolveSubnet(
  cloud: OpenStack,
  param: SubnetParam,
  options: ResolveOptions & { readonly networkId?: string | undefined },
): Promise<Subnet> {
  const { subnets } = cloud.network;
  const { signal, networkId } = options;
  if (param.id !== undefined) {
    const subnet = await byId('subnet', param.id, options, subnets.get(param.id, { signal }));
    if (networkId === undefined || subnet.networkId === networkId) return subnet;
    throw new UnusableInput(
      `${options.field}: subnet ${param.id} is on network ${subnet.networkId}, not on ${networkId}; name a subnet of that network`,
    );
  }
  const filter = { ...subnetFilter(param.filter), ...(networkId !== undefined && { networkId }) };
  return onlyOne('subnet', param.filter, options, await collect(subnets.list(filter, { signal })));
}

export async function resolveRouter(cloud: OpenStack, param: RouterParam, options: ResolveOptions): Promise<Router> {
  const { routers } = cloud.network;
  const { signal } = options;
  if (param.id !== undefined) return byId('router', param.id, options, routers.get(param.id, { signal }));
  return onlyOne('router', param.filter, options, await collect(routers.list(commonFilter(param.filter), { signal })));
}

/** Finds all security groups that a parameter selects; those of other projects only if it names them. */
export async function resolveSecurityGroups(
  cloud: OpenStack,
  param: SecurityGroupParam,
  options: ResolveOptions & { readonly projectId: string },
): Promise<SecurityGroup[]> {
  const { securityGroups } = cloud.network;
  const { signal, projectId } = options;
  if (param.id !== undefined) {
    return [await byId('security group', param.id, options, securityGroups.get(param.id, { signal }))];
  }
  const found = await collect(securityGroups.list({ projectId, ...commonFilter(param.filter) }, { signal }));
  if (found.length === 0) throw noneOf('security group', param.filter, options);
  return found;
}

export async function resolveServerGroup(
  cloud: OpenStack,
  param: ServerGroupParam,
  options: ResolveOptions,
): Promise<ServerGroup> {
  const { serverGroups } = cloud.compute;
  const { signal } = options;
  if (param.id !== undefined) return byId('server group', param.id, options, serverGroups.get(param.id, { signal }));
  const all = await collect(serverGroups.list({}, { signal }));
  return onlyOne(
    'server group',
    param.filter,
    options,
    all.filter(({ name }) => name === param.filter?.name),
  );
}

async function byId<T>(kind: string, id: string, { field }: ResolveOptions, call: Promise<T>): Promise<T> {
  const found = await orUndefined(call);
  if (found !== undefined) return found;
  throw new UnusableInput(
    `${field}: there is no ${kind} ${id} that this project may use; correct the id, or create or share the ${kind}`,
  );
}

function onlyOne<T extends { readonly id: string }>(
  kind: string,
  filter: object | undefined,
  options: ResolveOptions,
  found: readonly T[],
): T {
  const [first, ...others] = found;
  if (first === undefined) throw noneOf(kind, filter, options);
  if (others.length === 0) return first;
  const ids = found.slice(0, 5).map(({ id }) => id);
  throw new UnusableInput(
    `${options.field}: ${found.length} ${kind}s match ${filterText(filter)} (${ids.join(', ')}${found.length > 5 ? ', …' : ''}); name one by its id, or narrow the filter`,
  );
}

function noneOf(kind: string, filter: object | undefined, { field }: ResolveOptions): UnusableInput {
  return new UnusableInput(
    `${field}: no ${kind} matches ${filterText(filter)}; correct the filter, or create the ${kind}`,
  );
}

/** Formats a filter as the user wrote it, for example `name "a", tags ["b"]`. */
function filterText(filter: object | undefined): string {
  const parts = Object.entries(filter ?? {}).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  return parts.length === 0 ? 'the empty filter' : parts.join(', ');
}

function commonFilter(filter: NetworkFilter | undefined): NetworkCommonFilter {
  if (!filter) return {};
  const { name, description, projectID } = filter;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(projectID !== undefined && { projectId: projectID }),
    ...tagFilter(filter),
  };
}

function tagFilter({ tags, tagsAny, notTags, notTagsAny }: NeutronTags): NetworkCommonFilter {
  return {
    ...(tags && { tags }),
    ...(tagsAny && { tagsAny }),
    ...(notTags && { notTags }),
    ...(notTagsAny && { notTagsAny }),
  };
}

function subnetFilter(filter: SubnetFilter | undefined) {
  if (!filter) return {};
  const { ipVersion, gatewayIP, cidr, ipv6AddressMode, ipv6RAMode } = filter;
  return {
    ...commonFilter(filter),
    ...((ipVersion === 4 || ipVersion === 6) && { ipVersion: ipVersion as 4 | 6 }),
    ...(gatewayIP !== undefined && { gatewayIp: gatewayIP }),
    ...(cidr !== undefined && { cidr }),
    ...(ipv6AddressMode !== undefined && { ipv6AddressMode }),
    ...(ipv6RAMode !== undefined && { ipv6RaMode: ipv6RAMode }),
  };
}
