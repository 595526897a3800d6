import { isIP } from 'node:net';
import {
  bigIntToBytes,
  bytesToBigInt,
  type Clock,
  clone,
  fieldError,
  formatIp,
  ipFamily,
  ipToBigInt,
  isJsonObject,
  type JsonObject,
  must,
  parseCidr,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionRequest, AdmissionStep } from '../admission/index.ts';
import { coreWrites } from '../admission/scope.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export interface ServiceRange {
  /** first usable IPv4 address and number of addresses */
  base: number;
  size: number;
  nodePorts: { first: number; last: number };
}

/** Parses a CIDR such as "10.96.0.0/16". The network and broadcast addresses are never allocated. */
export function parseServiceCidr(cidr: string, nodePorts = { first: 30000, last: 32767 }): ServiceRange {
  const range = parseCidr(cidr);
  if (range?.address.length !== 4) throw new Error(`"${cidr}" is not an IPv4 CIDR`);
  return { base: Number(bytesToBigInt(range.address)) + 1, size: 2 ** (32 - range.prefixLength) - 2, nodePorts };
}

export function formatAddress(value: number): string {
  return formatIp(bigIntToBytes(BigInt(value), 4));
}

const space = { group: '', plural: 'services' };

/** Time that an address stays reserved for a pending write. */
const reservationMs = 60_000;

interface Reservation {
  taken: Set<string>;
  /** revision of the Service before the write, 0 for a new one */
  revision: number;
  untilMs: number;
}

/**
 * Allocates cluster IPs and node ports for Services, as kube-apiserver does. Allocations are derived from the stored
 * Services, so they cannot drift. Addresses of pending writes are reserved until the write is visible or lost.
 */
export function serviceAddresses(store: Store<StoredObject>, range: ServiceRange, clock: Clock): AdmissionStep {
  const reservations = new Map<string, Reservation>();
  return {
    name: 'ServiceAddresses',
    ...coreWrites('services', ['CREATE', 'UPDATE']),
    mutate(request) {
      const service = must(request.object, 'request.object');
      const key = objectKey(space, request.target.namespace, request.target.name);
      const taken = takenAddresses(store, request);
      for (const [other, reservation] of reservations) {
        if (other === key) continue;
        const written = (store.get(other)?.revision ?? 0) > reservation.revision;
        if (written || reservation.untilMs <= clock.now()) reservations.delete(other);
        else for (const item of reservation.taken) taken.add(item);
      }
      const mine = new Set<string>();
      assignClusterIp(request, service, { range, taken, mine });
      assignNodePorts(service, range, taken, mine);
      if (mine.size > 0 && !request.dryRun)
        reservations.set(key, {
          taken: mine,
          revision: store.get(key)?.revision ?? 0,
          untilMs: clock.now() + reservationMs,
        });
    },
  };
}

function takenAddresses(store: Store<StoredObject>, { oldObject, target }: AdmissionRequest): Set<string> {
  const own = oldObject && objectKey(space, target.namespace, target.name);
  const taken = new Set<string>();
  for (const { key, value } of store.list(keyPrefix(space)).records) {
    if (key === own) continue;
    for (const item of addressesOf(value)) taken.add(item);
  }
  return taken;
}

/**
 * Addresses of each stored Service. Stored objects are immutable, so they are cached instead of parsing all Services
 * again.
 */
const held = new WeakMap<StoredObject, readonly string[]>();

function addressesOf(stored: StoredObject): readonly string[] {
  const known = held.get(stored);
  if (known) return known;
  const spec = isJsonObject(stored.object.spec) ? stored.object.spec : {};
  const { clusterIPs, healthCheckNodePort } = spec;
  const found = [
    ...(Array.isArray(clusterIPs) ? clusterIPs.map(String) : []),
    ...portsOf(spec)
      .map(nodePortOf)
      .filter((port) => port !== 0)
      .map(portKey),
    ...(typeof healthCheckNodePort === 'number' ? [portKey(healthCheckNodePort)] : []),
  ];
  held.set(stored, found);
  return found;
}

function portsOf(spec: JsonObject): JsonObject[] {
  return Array.isArray(spec['ports']) ? spec['ports'].filter(isJsonObject) : [];
}

function assignClusterIp(
  request: AdmissionRequest,
  service: UnstructuredObject,
  { range, taken, mine }: { range: ServiceRange; taken: Set<string>; mine: Set<string> },
): void {
  const spec = service.spec as JsonObject;
  if (spec['type'] === 'ExternalName') {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) delete spec[field];
    return;
  }
  const oldSpec = request.oldObject && isJsonObject(request.oldObject.spec) ? request.oldObject.spec : undefined;
  if (oldSpec && (spec['clusterIP'] ?? '') === '' && oldSpec['clusterIP'] !== undefined)
    spec['clusterIP'] = oldSpec['clusterIP'];
  const asked = spec['clusterIP'];
  // Only new addresses are checked, because validation refuses changes of existing ones.
  const isNew = oldSpec?.['clusterIP'] === undefined;
  const problem = isNew && typeof asked === 'string' ? addressProblem(asked, range, taken) : undefined;
  if (problem) {
    throw statusError.invalid('', 'Service', service.metadata.name ?? '', [
      fieldError.invalid('spec.clusterIPs', [String(asked)], `failed to allocate IP ${String(asked)}: ${problem}`),
    ]);
  }
  if (asked === undefined || asked === '') {
    const free = findFree(
      range.size,
      (index) => taken.has(formatAddress(range.base + index)),
      service.metadata.uid ?? '',
    );
    if (free === undefined) throw statusError.internal('failed to allocate a cluster IP: range is full');
    spec['clusterIP'] = formatAddress(range.base + free);
  }
  if (isNew && spec['clusterIP'] !== 'None') mine.add(String(spec['clusterIP']));
  spec['clusterIPs'] = [spec['clusterIP'] ?? null];
  // Headless Services without a selector may point anywhere, so they get both families.
  const anyFamily = spec['clusterIP'] === 'None' && spec['selector'] === undefined;
  const families = anyFamily ? ['IPv4', 'IPv6'] : ['IPv4'];
  spec['ipFamilies'] = oldSpec?.['ipFamilies'] !== undefined ? clone(oldSpec['ipFamilies']) : families;
  spec['ipFamilyPolicy'] ??= anyFamily ? 'RequireDualStack' : 'SingleStack';
}

/** Returns why a requested address is unavailable; invalid addresses are left to validation. */
function addressProblem(address: string, { base, size }: ServiceRange, taken: ReadonlySet<string>): string | undefined {
  if (isIP(address) === 0) return undefined;
  const offset = ipFamily(address) === 'IPv4' ? Number(ipToBigInt(address)) - base : -1;
  if (offset < 0 || offset >= size) return 'the provided network does not match the current range';
  return taken.has(address) ? 'provided IP is already allocated' : undefined;
}

function assignNodePorts(
  service: UnstructuredObject,
  range: ServiceRange,
  taken: Set<string>,
  mine: Set<string>,
): void {
  const spec = service.spec as JsonObject;
  if (spec['type'] !== 'NodePort' && spec['type'] !== 'LoadBalancer') return;
  const allocate = spec['type'] === 'NodePort' || spec['allocateLoadBalancerNodePorts'] !== false;
  const node = new NodePorts(range, taken, mine, service.metadata.uid ?? '');
  const ports = portsOf(spec);
  /** node ports by service port; the protocols of one port share a node port */
  const given = new Map<unknown, number>();
  const askedFor = new Map<unknown, number>();
  for (const port of ports) {
    const nodePort = nodePortOf(port);
    if (nodePort !== 0 && !askedFor.has(port['port'])) askedFor.set(port['port'], nodePort);
  }
  ports.forEach((port, position) => {
    const asked = nodePortOf(port);
    if (asked === 0 && !allocate) return;
    const known = given.get(port['port']);
    const wanted = asked || known || askedFor.get(port['port']);
    if (wanted === undefined || wanted === 0) port['nodePort'] = node.next();
    else if (wanted === known) port['nodePort'] = known;
    else {
      const problem = node.take(wanted);
      if (problem) {
        throw statusError.invalid('', 'Service', service.metadata.name ?? '', [
          fieldError.invalid(`spec.ports[${position}].nodePort`, wanted, problem),
        ]);
      }
      port['nodePort'] = wanted;
    }
    if (known === undefined) given.set(port['port'], nodePortOf(port));
  });
  assignHealthCheckPort(spec, node);
}

/** Load balancers query this separate port to find nodes with local endpoints. */
function assignHealthCheckPort(spec: JsonObject, node: NodePorts): void {
  if (spec['type'] !== 'LoadBalancer' || spec['externalTrafficPolicy'] !== 'Local') return;
  const asked = spec['healthCheckNodePort'];
  if (typeof asked !== 'number' || asked === 0) {
    spec['healthCheckNodePort'] = node.next();
    return;
  }
  const problem = node.take(asked);
  if (problem) throw statusError.internal(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`);
}

function nodePortOf(port: JsonObject): number {
  return typeof port['nodePort'] === 'number' ? port['nodePort'] : 0;
}

/** Node port allocation of one write. A node port belongs to one Service for all protocols. */
class NodePorts {
  readonly #first: number;
  readonly #last: number;
  readonly #taken: ReadonlySet<string>;
  readonly #mine: Set<string>;
  readonly #seed: string;

  constructor({ nodePorts }: ServiceRange, taken: ReadonlySet<string>, mine: Set<string>, seed: string) {
    this.#first = nodePorts.first;
    this.#last = nodePorts.last;
    this.#taken = taken;
    this.#mine = mine;
    this.#seed = seed;
  }

  /** Takes a requested port, or returns why it is unavailable. */
  take(port: number): string | undefined {
    if (port < this.#first || port > this.#last) {
      return `provided port is not in the valid range. The range of valid ports is ${this.#first}-${this.#last}`;
    }
    if (this.#isTaken(port)) return 'provided port is already allocated';
    this.#mine.add(portKey(port));
    return undefined;
  }

  next(): number {
    const size = this.#last - this.#first + 1;
    const free = findFree(size, (index) => this.#isTaken(this.#first + index), `${this.#seed}${this.#mine.size}`);
    if (free === undefined) throw statusError.internal('failed to allocate a nodePort: range is full');
    this.#mine.add(portKey(this.#first + free));
    return this.#first + free;
  }

  #isTaken(port: number): boolean {
    return this.#taken.has(portKey(port)) || this.#mine.has(portKey(port));
  }
}

function portKey(port: number): string {
  return `port ${port}`;
}

/** Finds a free slot, starting at a position that depends on the object, so that addresses are not reused at once. */
function findFree(size: number, isTaken: (index: number) => boolean, seed: string): number | undefined {
  let start = 0;
  for (const character of seed) start = (start * 31 + character.charCodeAt(0)) % size;
  for (let step = 0; step < size; step++) {
    const index = (start + step) % size;
    if (!isTaken(index)) return index;
  }
  return undefined;
}
