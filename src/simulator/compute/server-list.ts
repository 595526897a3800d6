import { GoRegexp, RegexpBudgetExceeded } from '../../machinery/index.ts';
import { parseIso8601 } from '../core/checks/iso8601.ts';
import { pythonRepr } from '../core/checks/python.ts';
import { firstError } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import { newestFirst, type SortKey, sorted } from '../core/paging.ts';
import type { Answer } from '../core/service.ts';
import { badRequest, forbidden, queryMessage } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { pagedList } from './paging.ts';
import { isServerStatus, serverStatus } from './server-status.ts';
import { portsOf, renderServer, renderServerBrief } from './server-view.ts';
import type { Server } from './tables.ts';

/** Accepted sort keys and their values. Keys without a value are accepted and ignored. */
const sortKeys: Readonly<Record<string, SortKey<Server>['read'] | undefined>> = {
  access_ip_v4: ({ accessIPv4 }) => accessIPv4,
  access_ip_v6: ({ accessIPv6 }) => accessIPv6,
  auto_disk_config: ({ diskConfig }) => diskConfig,
  availability_zone: ({ zone }) => zone,
  config_drive: ({ configDrive }) => configDrive,
  created_at: ({ createdAt }) => createdAt,
  display_description: ({ description }) => description,
  display_name: ({ name }) => name,
  host: ({ host }) => host,
  hostname: ({ hostname }) => hostname,
  image_ref: ({ imageId }) => imageId,
  instance_type_id: ({ flavor }) => flavor.id,
  kernel_id: () => '',
  key_name: ({ keyName }) => keyName,
  launch_index: ({ launchIndex }) => launchIndex,
  launched_at: ({ launchedAt }) => launchedAt,
  locked_by: () => '',
  node: ({ host }) => host,
  power_state: ({ powerState }) => powerState,
  progress: () => 0,
  project_id: ({ projectId }) => projectId,
  ramdisk_id: () => '',
  root_device_name: () => '',
  task_state: ({ taskState }) => taskState,
  terminated_at: ({ terminatedAt }) => terminatedAt,
  updated_at: ({ updatedAt }) => updatedAt,
  user_id: ({ userId }) => userId,
  uuid: ({ id }) => id,
  vm_state: ({ vmState }) => vmState,
};

const ignoredSortKeys: readonly string[] = [
  'architecture',
  'cell_name',
  'cleaned',
  'default_ephemeral_device',
  'default_swap_device',
  'deleted',
  'deleted_at',
  'disable_terminate',
  'ephemeral_gb',
  'ephemeral_key_uuid',
  'id',
  'key_data',
  'launched_on',
  'locked',
  'memory_mb',
  'os_type',
  'reservation_id',
  'root_gb',
  'shutdown_terminate',
  'user_data',
  'vcpus',
  'vm_mode',
];

/** All accepted query parameters. From 2.75 on others are refused. */
const knownArguments: ReadonlySet<string> = new Set([
  ...[
    'user_id',
    'project_id',
    'tenant_id',
    'launch_index',
    'image_ref',
    'image',
    'kernel_id',
    'ramdisk_id',
    'hostname',
  ],
  ...['key_name', 'power_state', 'vm_state', 'task_state', 'host', 'node', 'flavor', 'reservation_id', 'launched_at'],
  ...['terminated_at', 'availability_zone', 'name', 'display_name', 'description', 'display_description', 'locked_by'],
  ...['uuid', 'root_device_name', 'config_drive', 'access_ip_v4', 'access_ip_v6', 'auto_disk_config', 'progress'],
  ...['sort_key', 'sort_dir', 'all_tenants', 'soft_deleted', 'deleted', 'status', 'changes-since', 'changes-before'],
  ...['ip', 'ip6', 'created_at', 'tags', 'tags-any', 'not-tags', 'not-tags-any', 'locked', 'limit', 'marker'],
  ...[
    'block_device_mapping',
    'services',
    'metadata',
    'system_metadata',
    'info_cache',
    'security_groups',
    'pci_devices',
  ],
]);

const expressions: ReadonlySet<string> = new Set(['name', 'display_name', 'ip', 'ip6', 'description', 'key_name']);

/** Serves GET /servers and /servers/detail. */
export function listServers(
  compute: Compute,
  context: RequestContext,
  { withDetails }: { withDetails: boolean },
): Answer {
  checkArguments(context);
  return pagedList(context, 'servers', findServers(compute, context), (server) =>
    withDetails ? renderServer(compute, context, server) : renderServerBrief(context, server),
  );
}

function checkArguments(context: RequestContext): void {
  const { query, minor } = context;
  for (const [name, value] of query.entries) {
    if (minor >= 75 && !knownArguments.has(name)) {
      throw badRequest(`${pythonRepr(name)} does not match any of the regexes: '^_'`);
    }
    if (expressions.has(name)) checkArgument(name, value, 'regex');
    if (name === 'changes-since' || name === 'changes-before') checkArgument(name, value, 'date-time');
  }
}

function checkArgument(name: string, value: string, format: string): void {
  const error = firstError({ type: 'string', format }, value);
  if (error) throw badRequest(queryMessage(error, name));
}

function findServers(compute: Compute, context: RequestContext): Readonly<Server>[] {
  const { query, caller } = context;
  const everywhere = allTenants(context);
  if (everywhere && !caller.isAdmin) {
    const rule = context.path.endsWith('/detail') ? 'detail' : 'index';
    throw forbidden(`Policy doesn't allow os_compute_api:servers:${rule}:get_all_tenants to be performed.`);
  }
  const wantedStatuses = query.all('status').map((status) => status.toUpperCase());
  // before 2.38 an unknown status matches nothing
  if (context.minor >= 38 && !wantedStatuses.every(isServerStatus)) throw badRequest('Invalid status value');
  if (wantedStatuses.includes('DELETED') && !caller.isAdmin) {
    throw forbidden('Only administrators may list deleted instances');
  }
  const since = query.get('changes-since');
  const wantsDeleted = since !== undefined || (caller.isAdmin && query.get('deleted')?.toLowerCase() === 'true');
  const projectId = caller.isAdmin ? (query.get('project_id') ?? query.get('tenant_id')) : undefined;
  const scope = everywhere ? projectId : context.project;
  const live = scope === undefined ? compute.servers.all() : compute.servers.by('project', scope);
  const gone = scope === undefined ? compute.deletedServers.all() : compute.deletedServers.by('project', scope);
  const matches = serverFilter(compute, context, wantedStatuses);
  const found: Readonly<Server>[] = [];
  if (!wantsDeleted || since !== undefined) for (const server of live) if (matches(server)) found.push(server);
  if (wantsDeleted) for (const server of gone) if (matches(server)) found.push(server);
  return inOrder(context, found);
}

function allTenants({ query }: RequestContext): boolean {
  const value = query.get('all_tenants');
  return value !== undefined && !/^(?:0|false|no|off)$/i.test(value);
}

type Filter = (server: Readonly<Server>) => boolean;

function serverFilter(compute: Compute, context: RequestContext, wantedStatuses: readonly string[]): Filter {
  const { query, minor, caller } = context;
  const filters: Filter[] = [];
  if (wantedStatuses.length > 0) {
    const wanted = new Set(wantedStatuses);
    filters.push((server) => wanted.has(serverStatus(server)));
  }
  const name = query.get('name') ?? query.get('display_name');
  if (name !== undefined) filters.push(nameFilter(name));
  const flavor = query.get('flavor');
  if (flavor !== undefined) filters.push((server) => server.flavor.id === flavor);
  const image = query.get('image') ?? query.get('image_ref');
  if (image !== undefined) filters.push((server) => server.imageId === image.split('/').at(-1));
  const addresses = [query.get('ip'), query.get('ip6')].filter((part) => part !== undefined);
  if (addresses.length > 0) filters.push(addressFilter(compute, addresses));
  const since = query.get('changes-since');
  const earliest = since === undefined ? undefined : parseIso8601(since);
  if (earliest !== undefined) filters.push(({ updatedAt }) => updatedAt >= earliest);
  const before = query.get('changes-before');
  const latest = before === undefined || minor < 66 ? undefined : parseIso8601(before);
  if (latest !== undefined) filters.push(({ updatedAt }) => updatedAt <= latest);
  if (minor >= 26) filters.push(...tagFilters(context));
  const locked = query.get('locked');
  if (locked !== undefined && minor >= 73)
    filters.push(({ isLocked }) => isLocked === /^(?:true|1|yes|on)$/i.test(locked));
  // Most filters are for administrators only. From 2.83 on some are open to all users.
  const open = caller.isAdmin || minor >= 83;
  if (open) {
    const exact: Readonly<Record<string, (server: Readonly<Server>) => string>> = {
      availability_zone: ({ zone }) => zone,
      key_name: ({ keyName }) => keyName ?? '',
      user_id: ({ userId }) => userId,
      vm_state: ({ vmState }) => vmState,
      ...(caller.isAdmin && {
        host: ({ host }: Readonly<Server>) => host,
        node: ({ host }: Readonly<Server>) => host,
        uuid: ({ id }: Readonly<Server>) => id,
        hostname: ({ hostname }: Readonly<Server>) => hostname,
      }),
    };
    for (const [argument, read] of Object.entries(exact)) {
      const value = query.get(argument);
      if (value !== undefined) filters.push((server) => read(server) === value);
    }
  }
  return (server) => filters.every((filter) => filter(server));
}

/**
 * Maximum cost of the name filter of one list, in regular expression steps. Usual patterns need far less for 100,000
 * servers.
 */
const matchingSteps = 5_000_000;

/**
 * Builds the filter of a regular expression that matches anywhere in the name. The common `^name$` is compared
 * directly.
 */
function nameFilter(pattern: string): Filter {
  const exact = /^\^([\w-]+)\$$/.exec(pattern)?.[1]?.toLowerCase();
  // Case-insensitive, like MySQL's default collation.
  if (exact !== undefined) return ({ name }) => name.length === exact.length && name.toLowerCase() === exact;
  const expression = new GoRegexp(`(?i)${pattern}`);
  const budget = { left: matchingSteps };
  return ({ name }) => {
    try {
      return expression.test(name, budget);
    } catch (error) {
      if (!(error instanceof RegexpBudgetExceeded)) throw error;
      throw badRequest(
        `Invalid input for query parameters name. ${pythonRepr(pattern)} takes too many steps to match.`,
      );
    }
  };
}

/** Filters by part of a fixed address, like neutron's port filter. A server needs to match only one of the two. */
function addressFilter(compute: Compute, parts: readonly string[]): Filter {
  return (server) =>
    portsOf(compute, server).some(({ fixedIps }) =>
      fixedIps.some(({ address }) => parts.some((part) => address.includes(part))),
    );
}

function tagFilters({ query }: RequestContext): Filter[] {
  const listed = (name: string): string[] | undefined => query.get(name)?.split(',');
  const all = listed('tags');
  const any = listed('tags-any');
  const notAll = listed('not-tags');
  const notAny = listed('not-tags-any');
  const filters: Filter[] = [];
  if (all) filters.push(({ tags }) => all.every((tag) => tags.includes(tag)));
  if (any) filters.push(({ tags }) => any.some((tag) => tags.includes(tag)));
  if (notAll) filters.push(({ tags }) => !notAll.every((tag) => tags.includes(tag)));
  if (notAny) filters.push(({ tags }) => !notAny.some((tag) => tags.includes(tag)));
  return filters;
}

function inOrder({ query, minor }: RequestContext, servers: Readonly<Server>[]): Readonly<Server>[] {
  const wanted = query.all('sort_key');
  if (wanted.length === 0) return newestFirst(servers);
  const directions = query.all('sort_dir');
  const allowed = [...Object.keys(sortKeys), ...(minor >= 75 ? [] : ignoredSortKeys)];
  const keys: SortKey<Readonly<Server>>[] = [];
  wanted.forEach((key, at) => {
    if (!allowed.includes(key)) {
      const message = `${pythonRepr(key)} is not one of ${pythonRepr(allowed)}`;
      throw badRequest(`Invalid input for query parameters sort_key. Value: ${key}. ${message}`);
    }
    const read = sortKeys[key];
    if (read) keys.push({ read, isDescending: (directions[at] ?? directions[0] ?? 'desc') === 'desc' });
  });
  return sorted(servers, keys);
}
