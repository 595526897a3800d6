import { must } from '../../machinery/index.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Excess } from '../core/quotas.ts';
import type { Answer } from '../core/service.ts';
import { badRequest, checkBody, checkName, forbidden } from '../core/wrapped-refusals.ts';
import { type BootPlan, checkBoot, parseBlockDevices } from './block-devices.ts';
import type { Compute } from './compute.ts';
import { findFlavor } from './flavors.ts';
import { parseNetworks } from './network-requests.ts';
import { beginBuild } from './server-build.ts';
import { createSchema, isYes } from './server-schema.ts';
import { serverLinks } from './server-view.ts';
import type { Flavor, KeyPair, Server, ServerFlavor } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Serves POST /servers. Errors in the request are refused here. Later errors appear in the server's fault. */
export function createServers(compute: Compute, context: RequestContext): Answer {
  checkBody(createSchema(context.minor), context.json);
  const body = context.json as Fields;
  const desired = body['server'] as Fields;
  checkName(desired['name']);
  const hints = (body['os:scheduler_hints'] ?? body['OS-SCH-HNT:scheduler_hints'] ?? {}) as Fields;

  const devices = parseBlockDevices(desired['block_device_mapping_v2']);
  if (!desired['imageRef'] && devices.length === 0) throw badRequest('Missing imageRef attribute');
  const flavor = findFlavor(compute, context, String(desired['flavorRef']));
  if (!flavor) throw badRequest(`Flavor ${String(desired['flavorRef'])} could not be found.`);
  const boot = checkBoot(compute, context, { imageId: text(desired['imageRef']), devices, flavor });
  const keyPair = findKeyPair(compute, context, desired['key_name']);
  const zone = checkZone(compute, text(desired['availability_zone']));
  const securityGroups = checkSecurityGroups(compute, context, desired['security_groups']);
  checkMetadata(compute, context, desired['metadata']);
  const count = serverCount(desired);
  const networks = parseNetworks(compute, context, desired['networks'], count.max);
  const groupId = checkGroup(compute, context, text(hints['group']), count.max);
  const number = affordable(compute, context.project, flavor, count);

  const resolved: Resolved = {
    flavor: serverFlavorOf(flavor),
    boot,
    keyPair,
    zone,
    groupId,
    securityGroups,
    networks,
    reservationId: `r-${compute.core.random.text(8, 'abcdefghijklmnopqrstuvwxyz0123456789')}`,
  };
  const ownHosts = { different: idList(hints['different_host']), same: idList(hints['same_host']) };
  const adminPass = text(desired['adminPass']) || compute.core.ids.secret(12);
  let first: Readonly<Server> | undefined;
  for (let index = 0; index < number; index++) {
    // Servers of one request get numbered names.
    const suffix = number > 1 ? `-${index + 1}` : '';
    const server = compute.servers.insert(
      newServer(compute, context, { desired, resolved, launchIndex: index, suffix }),
    );
    compute.record(server, 'create', context);
    beginBuild(compute, server, ownHosts);
    first ??= server;
  }
  if (isYes(desired['return_reservation_id'])) {
    return { status: 202, body: { reservation_id: resolved.reservationId } };
  }
  const links = serverLinks(context, must(first, 'first').id);
  const groups = securityGroups.length > 0 ? securityGroups : ['default'];
  return {
    status: 202,
    headers: { location: must(links[0], 'the first of links').href },
    body: {
      server: {
        id: must(first, 'first').id,
        links,
        'OS-DCF:diskConfig': must(first, 'first').diskConfig,
        security_groups: groups.map((name) => ({ name })),
        adminPass,
      },
    },
  };
}

interface Resolved {
  readonly flavor: ServerFlavor;
  readonly boot: BootPlan;
  readonly keyPair: Readonly<KeyPair> | undefined;
  readonly zone: string;
  readonly groupId: string;
  readonly securityGroups: readonly string[];
  readonly networks: Server['networkRequests'];
  readonly reservationId: string;
}

interface NewServer {
  readonly desired: Fields;
  readonly resolved: Resolved;
  readonly launchIndex: number;
  readonly suffix: string;
}

function newServer(
  compute: Compute,
  context: RequestContext,
  { desired, resolved, launchIndex, suffix }: NewServer,
): Server {
  const now = compute.core.now();
  const name = String(desired['name']) + suffix;
  return {
    id: compute.core.ids.uuid(),
    name,
    hostname: text(desired['hostname']) + (desired['hostname'] ? suffix : hostnameOf(name)),
    projectId: context.project,
    userId: context.caller.userId,
    createdAt: now,
    updatedAt: now,
    launchedAt: undefined,
    terminatedAt: undefined,
    vmState: 'building',
    taskState: 'scheduling',
    powerState: 0,
    fault: undefined,
    flavor: resolved.flavor,
    previousFlavor: undefined,
    imageId: resolved.boot.imageId,
    keyName: resolved.keyPair?.name ?? null,
    publicKey: resolved.keyPair?.publicKey ?? '',
    wantedZone: resolved.zone,
    zone: '',
    host: '',
    hostId: '',
    groupId: resolved.groupId,
    metadata: (desired['metadata'] as Record<string, string> | undefined) ?? noMetadata,
    tags: Array.isArray(desired['tags']) ? [...new Set(desired['tags'].map(String))] : noTags,
    description:
      typeof desired['description'] === 'string' ? desired['description'] : context.minor >= 19 ? null : name,
    userData: text(desired['user_data']),
    configDrive: isYes(desired['config_drive']),
    diskConfig: text(desired['OS-DCF:diskConfig']) || 'MANUAL',
    isLocked: false,
    lockedReason: null,
    accessIPv4: text(desired['accessIPv4']),
    accessIPv6: text(desired['accessIPv6']),
    securityGroups: resolved.securityGroups,
    networkRequests: resolved.networks,
    deviceRequests: resolved.boot.devices,
    ports: [],
    volumes: [],
    reservationId: resolved.reservationId,
    launchIndex,
  };
}

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});
const noTags: readonly string[] = Object.freeze([]);

/** Servers of the same flavor share one copy, which saves memory. */
const sharedFlavors = new WeakMap<Readonly<Flavor>, ServerFlavor>();

export function serverFlavorOf(flavor: Readonly<Flavor>): ServerFlavor {
  let own = sharedFlavors.get(flavor);
  // Flavors change in place, but only their extra specs and description can change.
  if (own?.extraSpecs !== flavor.extraSpecs) {
    const { id, name, vcpus, ram, disk, ephemeral, swap, extraSpecs } = flavor;
    own = { id, name, vcpus, ram, disk, ephemeral, swap, extraSpecs };
    sharedFlavors.set(flavor, own);
  }
  return own;
}

/** Returns the hostname that nova derives from the display name. */
function hostnameOf(name: string): string {
  const cleaned = name
    .toLowerCase()
    .replace(/[ _.]/g, '-')
    .replace(/[^\w.-]+/g, '')
    .replace(/^[.-]+|[.-]+$/g, '');
  return cleaned.slice(0, 63) || 'server';
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function idList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];
}

function findKeyPair(compute: Compute, { caller }: RequestContext, name: unknown): Readonly<KeyPair> | undefined {
  if (typeof name !== 'string') return undefined;
  const keyPair = compute.keyPairs.get(`${caller.userId}/${name}`);
  if (!keyPair) throw badRequest('Invalid key_name provided.');
  return keyPair;
}

/** Only administrators may use `zone:host`. The part after the colon is ignored. */
function checkZone(compute: Compute, wanted: string): string {
  const zone = wanted.split(':')[0] ?? '';
  if (zone !== '' && compute.hosts.count('zone', zone) === 0) {
    throw badRequest('The requested availability zone is not available');
  }
  return zone;
}

function checkSecurityGroups(compute: Compute, context: RequestContext, desired: unknown): string[] {
  if (!Array.isArray(desired)) return [];
  const names = new Set(desired.map((each: Fields) => text(each['name'])).filter((name) => name !== ''));
  for (const name of names) {
    const found = compute.core.services.network.securityGroup(context.project, name);
    if (found === undefined) throw badRequest(`Unable to find security_group with name or id '${name}'`);
    if (found === 'ambiguous') {
      throw badRequest(`Multiple security groups found matching '${name}'. Use an ID to be more specific.`);
    }
  }
  return [...names];
}

function checkMetadata(compute: Compute, context: RequestContext, metadata: unknown): void {
  if (metadata === undefined) return;
  const limit = compute.core.quotas.limit('compute', context.project, 'metadata_items');
  if (limit >= 0 && Object.keys(metadata as object).length > limit) {
    throw forbidden(`Maximum number of metadata items exceeds ${limit}`);
  }
}

function serverCount(desired: Fields): { min: number; max: number } {
  const min = desired['min_count'] === undefined ? 1 : Number(desired['min_count']);
  const max = desired['max_count'] === undefined ? min : Number(desired['max_count']);
  if (min > max) throw badRequest('min_count must be <= max_count');
  return { min, max };
}

function checkGroup(compute: Compute, context: RequestContext, id: string, count: number): string {
  if (id === '') return '';
  const group = compute.serverGroups.get(id);
  if (!group || (group.projectId !== context.project && !context.caller.isAdmin)) {
    throw badRequest(`Instance group ${id} could not be found.`);
  }
  const limit = compute.core.quotas.limit('compute', context.project, 'server_group_members');
  if (limit >= 0 && compute.servers.count('group', id) + count > limit) {
    throw forbidden('Quota exceeded, too many servers in group');
  }
  return id;
}

/**
 * Returns how many of the requested servers the quota allows. Refuses the request if this is below the requested
 * minimum.
 */
function affordable(
  compute: Compute,
  projectId: string,
  flavor: Readonly<Flavor>,
  { min, max }: { min: number; max: number },
): number {
  const effect = outcomeOf(compute.core, 'server.quota', { projectId, name: flavor.name });
  if (effect?.kind === 'over-quota') {
    const { limit, used } = limitAndUse(compute, projectId, 'instances');
    throw overQuota([{ resource: 'instances', requested: max, used, limit: Math.max(limit, used) }]);
  }
  const each = [
    { resource: 'instances', amount: 1, ...limitAndUse(compute, projectId, 'instances') },
    { resource: 'cores', amount: flavor.vcpus, ...limitAndUse(compute, projectId, 'cores') },
    { resource: 'ram', amount: flavor.ram, ...limitAndUse(compute, projectId, 'ram') },
  ];
  const fits = (number: number): boolean =>
    each.every(({ amount, limit, used }) => limit < 0 || used + amount * number <= limit);
  for (let number = max; number >= min; number--) if (fits(number)) return number;
  const excesses = each
    .filter(({ amount, limit, used }) => limit >= 0 && used + amount * min > limit)
    .map(({ resource, amount, limit, used }) => ({ resource, requested: amount * min, used, limit }));
  throw overQuota(excesses);
}

function overQuota(excesses: readonly Excess[]): Error {
  const list = (value: (excess: Excess) => string | number): string => excesses.map(value).join(', ');
  return forbidden(
    `Quota exceeded for ${list(({ resource }) => resource)}: Requested ${list(({ requested }) => requested)}, but already used ${list(({ used }) => used)} of ${list(({ limit, resource }) => `${limit} ${resource}`)}`,
  );
}

function limitAndUse(compute: Compute, projectId: string, resource: string): { limit: number; used: number } {
  const { quotas } = compute.core;
  return { limit: quotas.limit('compute', projectId, resource), used: quotas.used('compute', projectId, resource) };
}
