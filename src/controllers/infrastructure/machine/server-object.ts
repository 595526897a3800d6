import {
  clusterNameLabel,
  infrastructureGroup,
  type OpenStackMachine,
  type OpenStackServer,
  type OpenStackServerSpec,
  openStackMachines,
  openStackServers,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { deepEqual, ignoreNotFound, isAlreadyExists, type JsonObject } from '../../../machinery/index.ts';
import { fieldManager, isDeleting, ownerOf, ownerReference, watchFilterLabel } from '../../shared/index.ts';
import { UnusableInput } from '../common/outcomes.ts';
import { invalidMachineSpecReason } from '../server/conditions.ts';
import { desiredServerSpec, InvalidMachineSpec, managedGroupOf, zoneOf } from './desired-server.ts';
import type { WholeScope } from './scope.ts';
import { managedServerGroup } from './server-group.ts';

/** The object of the machine's server, made from the machine's spec when there is none. */
export async function ensureServerObject(scope: WholeScope): Promise<OpenStackServer> {
  const { context, machine } = scope;
  const { namespace = '', name = '' } = machine.metadata;
  const existing = context.cache.lister(openStackServers).get({ namespace, name });
  if (existing) {
    assertOurs(scope, existing);
    return await followMachine(scope, existing);
  }
  return await create(scope, wish(scope, await managedServerGroup(scope)));
}

function wish(scope: WholeScope, managedServerGroupId: string | undefined): OpenStackServerSpec {
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
  try {
    return await client.create(
      openStackServers,
      {
        apiVersion: `${infrastructureGroup}/${openStackServers.version}`,
        kind: openStackServers.kind,
        metadata: {
          name,
          namespace,
          labels: { [clusterNameLabel]: cluster.metadata.name ?? '', ...filterLabel(machine) },
          ownerReferences: [ownerReference(machine, openStackMachines)],
        },
        spec,
      },
      { fieldManager, signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(openStackServers, { namespace, name }, { signal });
    assertOurs(scope, existing);
    return existing;
  }
}

/** Whoever looks after the machine looks after its server. */
function filterLabel({ metadata }: OpenStackMachine): Record<string, string> {
  const value = metadata.labels?.[watchFilterLabel];
  return value === undefined ? {} : { [watchFilterLabel]: value };
}

function assertOurs({ machine }: WholeScope, server: OpenStackServer): void {
  const owner = ownerOf(server, openStackMachines);
  if (owner?.name === machine.metadata.name) return;
  throw new UnusableInput(
    `OpenStackServer ${server.metadata.name} exists already and belongs to somebody else; delete it, or give the machine another name`,
    { reason: invalidMachineSpecReason },
  );
}

/** Credentials and allowed address pairs may change while the machine lives; its server is told. */
async function followMachine(scope: WholeScope, server: OpenStackServer): Promise<OpenStackServer> {
  // without its network the cluster cannot say what the ports were made from
  if (isDeleting(server) || scope.openStackCluster.status?.network === undefined) return server;
  const { identityRef, ports } = wish(scope, undefined);
  const pairsOf = (spec: Pick<OpenStackServerSpec, 'ports'>): unknown =>
    spec.ports.map(({ allowedAddressPairs }) => allowedAddressPairs ?? []);
  const changes: JsonObject = {};
  const wishedPorts = server.spec.ports.map((port, index) => {
    const { allowedAddressPairs: _, ...rest } = port;
    const pairs = ports[index]?.allowedAddressPairs;
    return pairs ? { ...rest, allowedAddressPairs: pairs } : rest;
  });
  if (ports.length === server.spec.ports.length && !deepEqual(pairsOf({ ports }), pairsOf(server.spec))) {
    changes['ports'] = wishedPorts as unknown as JsonObject[];
  }
  if (!sameIdentity(identityRef, server.spec.identityRef)) changes['identityRef'] = { ...identityRef };
  if (Object.keys(changes).length === 0) return server;
  const { client, signal } = scope.context;
  return await client.patch(openStackServers, objectKey(server), 'merge', { spec: changes }, { fieldManager, signal });
}

type Identity = OpenStackServerSpec['identityRef'];

/** The region is fixed for life, so it takes no part. */
function sameIdentity(a: Identity, b: Identity): boolean {
  return a.name === b.name && a.cloudName === b.cloudName && (a.type ?? 'Secret') === (b.type ?? 'Secret');
}

/** Deletes the object of the server; true when it is gone. */
export async function deleteServerObject(scope: Pick<WholeScope, 'context' | 'machine'>): Promise<boolean> {
  const { context, machine } = scope;
  const { namespace = '', name = '' } = machine.metadata;
  const server = context.cache.lister(openStackServers).get({ namespace, name });
  if (!server || ownerOf(server, openStackMachines)?.name !== name) return true;
  if (isDeleting(server)) return false;
  const { uid } = server.metadata;
  await context.client
    .delete(openStackServers, objectKey(server), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
  return false;
}
