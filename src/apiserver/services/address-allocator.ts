import {
  type Clock,
  clone,
  fieldError,
  isJsonObject,
  type JsonObject,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionRequest, AdmissionStep } from '../admission/index.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export interface ServiceRange {
  /** first usable address and number of addresses, IPv4 */
  base: number;
  size: number;
  nodePorts: { first: number; last: number };
}

/** "10.96.0.0/16" as a range; the network and broadcast addresses are never handed out. */
export function parseServiceCidr(cidr: string, nodePorts = { first: 30000, last: 32767 }): ServiceRange {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr);
  if (!match) throw new Error(`"${cidr}" is not an IPv4 CIDR`);
  const bits = Number(match[5]);
  const address = match.slice(1, 5).reduce((sum, part) => sum * 256 + Number(part), 0);
  return { base: address + 1, size: 2 ** (32 - bits) - 2, nodePorts };
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

const space = { group: '', plural: 'services' };

/** How long an address is held for a write whose outcome has not been seen. */
const reservationMs = 60_000;

interface Reservation {
  taken: Set<string>;
  untilMs: number;
}

/**
 * Gives Services their cluster IP and node ports when they are written, as kube-apiserver does. What is taken is read
 * from the stored Services themselves, so it cannot drift; addresses of writes still under way are reserved until the
 * write is visible or certainly lost.
 */
export function serviceAddresses(store: Store<StoredObject>, range: ServiceRange, clock: Clock): AdmissionStep {
  const reservations = new Map<string, Reservation>();
  return {
    name: 'ServiceAddresses',
    appliesTo: ({ target, operation, subresource }) =>
      subresource === undefined &&
      operation !== 'DELETE' &&
      target.resource.definition.group === '' &&
      target.resource.definition.plural === 'services',
    mutate(request) {
      const service = request.object!;
      const key = objectKey(space, request.target.namespace, request.target.name);
      const taken = takenAddresses(store, request);
      for (const [other, reservation] of reservations) {
        if (other === key) continue;
        if (reservation.untilMs <= clock.now() || store.get(other)) reservations.delete(other);
        else for (const item of reservation.taken) taken.add(item);
      }
      const mine = new Set<string>();
      assignClusterIp(request, service, range, taken, mine);
      assignNodePorts(service, range, taken, mine);
      if (mine.size > 0 && !request.dryRun)
        reservations.set(key, { taken: mine, untilMs: clock.now() + reservationMs });
    },
  };
}

function takenAddresses(store: Store<StoredObject>, request: AdmissionRequest): Set<string> {
  const taken = new Set<string>();
  for (const record of store.list(keyPrefix(space)).records) {
    const service = record.value.object;
    if (service.metadata.uid === request.oldObject?.metadata.uid) continue;
    const spec = isJsonObject(service.spec) ? service.spec : {};
    for (const address of Array.isArray(spec['clusterIPs']) ? spec['clusterIPs'] : []) taken.add(String(address));
    for (const port of portsOf(spec))
      if (port['nodePort']) taken.add(`${String(port['protocol'] ?? 'TCP')}/${String(port['nodePort'])}`);
    if (spec['healthCheckNodePort']) taken.add(`TCP/${String(spec['healthCheckNodePort'])}`);
  }
  return taken;
}

function portsOf(spec: JsonObject): JsonObject[] {
  return Array.isArray(spec['ports']) ? spec['ports'].filter(isJsonObject) : [];
}

function assignClusterIp(
  request: AdmissionRequest,
  service: UnstructuredObject,
  range: ServiceRange,
  taken: Set<string>,
  mine: Set<string>,
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
  if (typeof asked === 'string' && asked !== '' && asked !== 'None' && taken.has(asked)) {
    throw statusError.invalid('', 'Service', service.metadata.name ?? '', [
      fieldError.invalid(
        'spec.clusterIPs',
        [asked],
        `failed to allocate IP ${asked}: provided IP is already allocated`,
      ),
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
  if (spec['clusterIP'] !== 'None') mine.add(String(spec['clusterIP']));
  spec['clusterIPs'] = [spec['clusterIP']!];
  // Headless Services that select nothing may point anywhere, hence at both families.
  const anyFamily = spec['clusterIP'] === 'None' && spec['selector'] === undefined;
  const families = anyFamily ? ['IPv4', 'IPv6'] : ['IPv4'];
  spec['ipFamilies'] = oldSpec?.['ipFamilies'] !== undefined ? clone(oldSpec['ipFamilies']) : families;
  spec['ipFamilyPolicy'] ??= anyFamily ? 'RequireDualStack' : 'SingleStack';
}

function assignNodePorts(
  service: UnstructuredObject,
  range: ServiceRange,
  taken: Set<string>,
  mine: Set<string>,
): void {
  const spec = service.spec as JsonObject;
  const wanted =
    spec['type'] === 'NodePort' || (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);
  if (!wanted) return;
  const { first, last } = range.nodePorts;
  portsOf(spec).forEach((port, position) => {
    const protocol = String(port['protocol'] ?? 'TCP');
    const asked = port['nodePort'];
    if (typeof asked === 'number' && asked !== 0) {
      const problem = portProblem(asked, `${protocol}/${asked}`, range, taken, mine);
      if (problem) {
        throw statusError.invalid('', 'Service', service.metadata.name ?? '', [
          fieldError.invalid(`spec.ports[${position}].nodePort`, asked, problem),
        ]);
      }
      mine.add(`${protocol}/${asked}`);
      return;
    }
    const isTaken = (index: number): boolean =>
      taken.has(`${protocol}/${first + index}`) || mine.has(`${protocol}/${first + index}`);
    const free = findFree(last - first + 1, isTaken, `${service.metadata.uid}${position}`);
    if (free === undefined) throw statusError.internal('failed to allocate a nodePort: range is full');
    port['nodePort'] = first + free;
    mine.add(`${protocol}/${first + free}`);
  });
}

function portProblem(
  port: number,
  key: string,
  range: ServiceRange,
  taken: Set<string>,
  mine: Set<string>,
): string | undefined {
  const { first, last } = range.nodePorts;
  if (port < first || port > last)
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
  return taken.has(key) || mine.has(key) ? 'provided port is already allocated' : undefined;
}

/** A free slot, looked for from a place that differs per object, so that addresses are not reused at once. */
function findFree(size: number, isTaken: (index: number) => boolean, seed: string): number | undefined {
  let start = 0;
  for (const character of seed) start = (start * 31 + character.charCodeAt(0)) % size;
  for (let step = 0; step < size; step++) {
    const index = (start + step) % size;
    if (!isTaken(index)) return index;
  }
  return undefined;
}
