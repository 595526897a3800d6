import { createHash } from 'node:crypto';
import {
  clusterNameLabel,
  hasNoServer,
  infrastructureGroup,
  isUnresolved,
  type OpenStackMachine,
  OpenStackMachines,
  type OpenStackServer,
  type OpenStackServerSpec,
  OpenStackServers,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { asJson, deepEqual, ignoreNotFound, isAlreadyExists, type JsonObject } from '../../../machinery/index.ts';
import { fieldManager, filterLabelOf, isDeleting, ownerOf, ownerReference } from '../../shared/index.ts';
import { abandonAnnotation, openStackServerFinalizer, ownerMarkAnnotation } from '../common/names.ts';
import { CloudFault, UnusableInput } from '../common/outcomes.ts';
import { invalidMachineSpecReason } from '../server/conditions.ts';
import { placeIn } from '../server/loss.ts';
import { desiredServerSpec, InvalidMachineSpec, managedGroupOf, zoneOf } from './desired-server.ts';
import type { WholeScope } from './scope.ts';
import { managedServerGroup } from './server-group.ts';

/** Returns the OpenStackServer of the machine; creates it if missing. */
export async function ensureServerObject(scope: WholeScope): Promise<OpenStackServer> {
  const { context, machine } = scope;
  const { namespace = '', name = '' } = machine.metadata;
  const existing = context.cache.lister(OpenStackServers).get({ namespace, name });
  if (existing) {
    assertOurs(scope, existing);
    if (isMadeFromAnother(scope, existing)) return await replace(scope, existing);
    return await followMachine(scope, existing);
  }
  return await create(scope, desired(scope, await managedServerGroup(scope)));
}

/** Annotation of the OpenStackServer with the hash of the machine spec it was made from. */
const specAnnotation = 'infrastructure.cluster.x-k8s.io/machine-spec-hash';

/** Excludes fields that may change: credentials, address pairs, and the provider ID, which is an output. */
function hashOf({ providerID: _id, identityRef: _identity, ports, ...rest }: OpenStackMachine['spec']): string {
  const spec = { ...rest, ports: ports?.map(({ allowedAddressPairs: _, ...port }) => port) };
  return createHash('sha256').update(JSON.stringify(spec, inOrder)).digest('hex').slice(0, 32);
}

/** Sorts keys, because writers may reorder them. */
const inOrder = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Tells whether the machine's spec was changed before it had a server. */
function isMadeFromAnother({ original, machine }: WholeScope, server: OpenStackServer): boolean {
  const noted = server.metadata.annotations?.[specAnnotation];
  return hasNoServer(original) && noted !== undefined && noted !== hashOf(machine.spec);
}

/** Deletes the OpenStackServer with anything it has created; the next reconcile creates one from the corrected spec. */
async function replace(scope: WholeScope, server: OpenStackServer): Promise<OpenStackServer> {
  if (!isDeleting(server)) await deleteServerObject(scope);
  return server;
}

function desired(scope: WholeScope, managedServerGroupId: string | undefined): OpenStackServerSpec {
  const { machine, owner, openStackCluster, isControlPlane } = scope;
  try {
    return desiredServerSpec(machine.spec, {
      cluster: openStackCluster,
      managedGroupId: managedGroupOf(openStackCluster, isControlPlane),
      availabilityZone: zoneOf(owner),
      userDataSecret: owner.spec.bootstrap.dataSecretName,
      managedServerGroupId,
    });
  } catch (error) {
    if (!(error instanceof InvalidMachineSpec)) throw error;
    throw new UnusableInput(error.message, { reason: invalidMachineSpecReason, cause: error });
  }
}

async function create(scope: WholeScope, spec: OpenStackServerSpec): Promise<OpenStackServer> {
  const { context, machine, cluster } = scope;
  const { namespace = '', name = '' } = machine.metadata;
  const { client, signal } = context;
  // what the server's controller would record first is there from the beginning
  const mark = machine.metadata.uid ?? '';
  const place = await placeOf(scope);
  if (hasNoServer(scope.original)) scope.serverMemories.expect(mark);
  try {
    return await client.create(
      OpenStackServers,
      {
        apiVersion: `${infrastructureGroup}/${OpenStackServers.version}`,
        kind: OpenStackServers.kind,
        metadata: {
          name,
          namespace,
          labels: { [clusterNameLabel]: cluster.metadata.name ?? '', ...filterLabelOf(machine) },
          annotations: { [specAnnotation]: hashOf(machine.spec), [ownerMarkAnnotation]: mark, ...place },
          finalizers: [openStackServerFinalizer],
          ownerReferences: [ownerReference(machine, OpenStackMachines)],
        },
        spec,
      },
      { fieldManager, signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(OpenStackServers, { namespace, name }, { signal });
    assertOurs(scope, existing);
    return existing;
  }
}

/** Unusable credentials are reported by the server's controller. */
async function placeOf(scope: WholeScope): Promise<Record<string, string>> {
  try {
    return placeIn(await scope.cloud());
  } catch (error) {
    if (error instanceof CloudFault) return {};
    throw error;
  }
}

function assertOurs({ machine }: WholeScope, server: OpenStackServer): void {
  const owner = ownerOf(server, OpenStackMachines);
  if (owner?.name === machine.metadata.name) return;
  throw new UnusableInput(
    `OpenStackServer ${server.metadata.name} exists already and belongs to somebody else; delete it, or rename the machine`,
    { reason: invalidMachineSpecReason },
  );
}

/** Propagates identityRef and allowed address pairs, which may change during a machine's life. */
async function followMachine(scope: WholeScope, server: OpenStackServer): Promise<OpenStackServer> {
  // without its network in the status, the port specs cannot be rebuilt
  if (isDeleting(server) || scope.openStackCluster.status?.network === undefined) return server;
  const { identityRef, ports } = desired(scope, undefined);
  const pairsOf = (spec: Pick<OpenStackServerSpec, 'ports'>): unknown =>
    spec.ports.map(({ allowedAddressPairs }) => allowedAddressPairs ?? []);
  const changes: JsonObject = {};
  const desiredPorts = server.spec.ports.map((port, index) => {
    const { allowedAddressPairs: _, ...rest } = port;
    const pairs = ports[index]?.allowedAddressPairs;
    return pairs ? { ...rest, allowedAddressPairs: pairs } : rest;
  });
  if (ports.length === server.spec.ports.length && !deepEqual(pairsOf({ ports }), pairsOf(server.spec))) {
    changes['ports'] = asJson(desiredPorts);
  }
  const isRegionWrong = isUnresolved(server) && identityRef.region !== server.spec.identityRef.region;
  if (!sameIdentity(identityRef, server.spec.identityRef) || isRegionWrong) {
    changes['identityRef'] = { ...identityRef, ...(isRegionWrong && { region: identityRef.region ?? null }) };
  }
  if (Object.keys(changes).length === 0) return server;
  const { client, signal } = scope.context;
  return await client.patch(OpenStackServers, objectKey(server), 'merge', { spec: changes }, { fieldManager, signal });
}

type Identity = OpenStackServerSpec['identityRef'];

/** Ignores the region, which is fixed once something was created in it. */
function sameIdentity(a: Identity, b: Identity): boolean {
  return a.name === b.name && a.cloudName === b.cloudName && (a.type ?? 'Secret') === (b.type ?? 'Secret');
}

/** Copies the abandon annotation from the machine to its server. */
async function passOnAbandonment(
  scope: Pick<WholeScope, 'context' | 'machine'>,
  server: OpenStackServer,
): Promise<void> {
  const value = scope.machine.metadata.annotations?.[abandonAnnotation];
  if (value === undefined || server.metadata.annotations?.[abandonAnnotation] === value) return;
  const { client, signal } = scope.context;
  const body = { metadata: { annotations: { [abandonAnnotation]: value } } };
  await client
    .patch(OpenStackServers, objectKey(server), 'merge', body, { fieldManager, signal })
    .catch(ignoreNotFound);
}

/** Deletes the OpenStackServer; returns true once it is gone. */
export async function deleteServerObject(scope: Pick<WholeScope, 'context' | 'machine'>): Promise<boolean> {
  const { context, machine } = scope;
  const { namespace = '', name = '' } = machine.metadata;
  const server = context.cache.lister(OpenStackServers).get({ namespace, name });
  if (!server || ownerOf(server, OpenStackMachines)?.name !== name) return true;
  if (isDeleting(server)) {
    await passOnAbandonment(scope, server);
    return false;
  }
  const { uid } = server.metadata;
  await context.client
    .delete(OpenStackServers, objectKey(server), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
  return false;
}
