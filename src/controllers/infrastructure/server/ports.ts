import { clusterNameLabel, type ResolvedPort } from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { collect, type OpenStack, type Port, type PortSpec, type Ports } from '../../../openstack/index.ts';
import { portName, upstreamClusterDescription } from '../common/names.ts';
import { attempt } from '../common/outcomes.ts';
import { carriesMark } from '../common/ownership.ts';
import { portCreateFailedReason } from './conditions.ts';
import { portSpec } from './desired.ts';
import { type ServerScope, updateStatus } from './scope.ts';
import { sameTags } from './tags.ts';
import { ensureTrunk } from './trunks.ts';

/** Creates missing ports, with one bulk request if possible, and records their ids in spec order. */
export async function ensurePorts(scope: ServerScope): Promise<readonly string[]> {
  const wanted = scope.server.status?.resolved?.ports ?? [];
  const isFirst = scope.memory.untried.delete('ports');
  const found = isFirst ? [] : await findPorts(scope, wanted);
  const known = wanted.map((port, index) => found.find((one) => matches(one, port, recordedIds(scope)[index])));
  const missing = wanted.filter((_, index) => known[index] === undefined);
  const made = missing.length === 0 ? [] : await createPorts(scope, missing);
  const all = known.map((port) => port ?? must(made.shift(), 'a port that was made'));
  const ids = all.map(({ id }) => id);
  // not stored before the server is created: until then, the mark and the name find them
  if (ids.some((id, index) => recordedIds(scope)[index] !== id)) noteIds(scope, ids);
  await Promise.all(wanted.map((port, index) => dressPort(scope, port, must(all[index], 'a port'), isFirst)));
  return ids;
}

export async function recordPorts(scope: ServerScope): Promise<void> {
  const wanted = scope.server.status?.resolved?.ports ?? [];
  const found = await findPorts(scope, wanted);
  const ids = wanted.flatMap((port, index) => {
    const one = found.find((candidate) => matches(candidate, port, recordedIds(scope)[index]));
    return one ? [one.id] : [];
  });
  if (ids.length > 0) noteIds(scope, ids);
}

/** Builds the name of a port whose network is not resolved yet. */
export function namedPort(
  { metadata }: ServerScope['server'],
  { nameSuffix }: { readonly nameSuffix?: string },
  index: number,
): { name: string } {
  return { name: portName(metadata.name ?? '', index, nameSuffix) };
}

function noteIds({ server }: ServerScope, ids: readonly string[]): void {
  updateStatus(server, { resources: { ...server.status?.resources, ports: ids.map((id) => ({ id })) } });
}

const recordedIds = ({ server }: ServerScope): readonly (string | undefined)[] =>
  server.status?.resources?.ports?.map(({ id }) => id) ?? [];

const matches = (port: Port, wanted: ResolvedPort, recordedId: string | undefined): boolean =>
  recordedId === undefined ? port.name === wanted.name && port.networkId === wanted.networkID : port.id === recordedId;

/** Finds own ports: recorded by id, or with our mark and one of our names. */
export async function findPorts(scope: ServerScope, wanted: readonly { readonly name: string }[]): Promise<Port[]> {
  const { cloud, context, owner } = scope;
  const ids = recordedIds(scope).filter((id) => id !== undefined);
  if (ids.length === 0 && wanted.length === 0) return [];
  const filter = ids.length > 0 ? { id: ids } : { name: wanted.map(({ name }) => name) };
  const ports = await attempt('Ports cannot be looked for', portCreateFailedReason, () =>
    collect(cloud.openstack.network.ports.list(filter, { signal: context.signal })),
  );
  return ids.length > 0 ? ports : ports.filter((port) => carriesMark(port, owner) || isUpstreams(scope, port));
}

/**
 * Recognizes a port of upstream's provider. It sets the cluster name or the spec's text as description, and takes any
 * port with the name as its own.
 */
function isUpstreams({ server, isBegunByUpstream }: ServerScope, { name, description }: Port): boolean {
  if (!isBegunByUpstream) return false;
  const given = server.spec.ports.find(
    ({ nameSuffix }, index) => portName(server.metadata.name ?? '', index, nameSuffix) === name,
  );
  const usual = upstreamClusterDescription(server.metadata.labels?.[clusterNameLabel] ?? '');
  return description === (given?.description ?? usual);
}

async function createPorts(scope: ServerScope, wanted: readonly ResolvedPort[]): Promise<Port[]> {
  const { network } = scope.cloud.openstack;
  const { signal, events } = scope.context;
  const names = wanted.map(({ name }) => name).join(', ');
  const doing = `${wanted.length === 1 ? 'Port' : 'Ports'} ${names} cannot be created`;
  const made = await attempt(doing, portCreateFailedReason, async () => {
    const hasTrustedVif = await knowsTrustedVif(scope.cloud.openstack, wanted);
    return askForPorts(
      network.ports,
      wanted.map((port) => portSpec(port, hasTrustedVif)),
      signal,
    );
  });
  for (const { name, id } of made) {
    events.event(scope.server, 'Normal', 'Successfulcreateport', `Created port ${name} with id ${id}`);
  }
  return made;
}

/** Creates ports with one bulk request where possible; results are in request order. */
async function askForPorts(ports: Ports, specs: readonly PortSpec[], signal: AbortSignal): Promise<Port[]> {
  const isShared = (desired: PortSpec): boolean => specs.length > 1 && !isForgottenInBulk(desired);
  const shared = specs.filter(isShared);
  const answered = shared.length === 0 ? [] : await ports.createMany(shared, { signal });
  const made: Port[] = [];
  for (const desired of specs) {
    // Neutron answers in request order; the name check makes sure
    const port = isShared(desired)
      ? (answered.find(({ name }) => name === desired.name) ?? answered[shared.indexOf(desired)])
      : await ports.create(desired, { signal });
    made.push(must(port, 'a port in the answer'));
  }
  return made;
}

/** Neutron (at least Zed) accepts address pairs and extra options in bulk requests, but silently drops them. */
function isForgottenInBulk({ allowedAddressPairs = [], extra = {} }: PortSpec): boolean {
  return allowedAddressPairs.length > 0 || Object.keys(extra).length > 0;
}

/** Queries the extension only if a port needs it. */
async function knowsTrustedVif({ network }: OpenStack, ports: readonly ResolvedPort[]): Promise<boolean> {
  return ports.some(({ profile }) => profile?.trustedVF === true) && (await network.extensions.has('port-trusted-vif'));
}

/** Sets what Neutron does not accept at port creation: tags and the trunk. */
async function dressPort(scope: ServerScope, wanted: ResolvedPort, port: Port, isFirst: boolean): Promise<void> {
  const { network } = scope.cloud.openstack;
  const { signal } = scope.context;
  const { tags = [] } = wanted;
  if (tags.length > 0 && !sameTags(tags, port.tags)) {
    await attempt(`Port ${port.name} (${port.id}) cannot be tagged`, portCreateFailedReason, () =>
      network.ports.replaceTags(port.id, tags, { signal }),
    );
  }
  if (wanted.trunk === true) await ensureTrunk(scope, wanted, port, isFirst);
}
