import { createHash } from 'node:crypto';
import {
  clusterNameLabel,
  infrastructureGroup,
  OpenStackClusters,
  type OpenStackServer,
  type OpenStackServerSpec,
  OpenStackServers,
} from '../../../api/index.ts';
import { deepEqual, isInvalid } from '../../../machinery/index.ts';
import {
  explain,
  fieldManager,
  filterLabelOf,
  isDeleting,
  isOwnedBy,
  ownerReference,
  shows,
} from '../../shared/index.ts';
import { bastionName, floatingIpAnnotation } from '../common/names.ts';
import { attempt, UnusableInput, type Wait } from '../common/outcomes.ts';
import { desiredServerSpec, InvalidMachineSpec } from '../machine/desired-server.ts';
import { instanceGoneReason } from '../server/conditions.ts';
import { hasBastion } from './desired.ts';
import { attachFloatingIp, findOwnFloatingIps, reserveFloatingIp } from './floating-ip.ts';
import { type ClusterScope, look, statusOf } from './scope.ts';
import { dropBastionGroup } from './security-groups.ts';

/** Annotation of the bastion's OpenStackServer with the hash of its spec. A different hash requires a new server. */
const specAnnotation = 'infrastructure.cluster.x-k8s.io/bastion-spec-hash';
const reason = 'BastionNotReady';
/** Requeue delay in case an event is lost. */
const waitMs = 15_000;

/** Reconciles the bastion, the SSH jump host. */
export async function reconcileBastion(scope: ClusterScope): Promise<Wait | undefined> {
  const { spec } = scope.draft;
  if (!hasBastion(spec)) return (await removeBastion(scope)) ?? (await dropBastionGroup(scope));
  const name = bastionName(scope.clusterName);
  const wanted = wantedServer(scope);
  const existing = findServer(scope, name);
  if (!existing) {
    await createServer(scope, name, wanted);
    return waiting(`bastion ${name} is being made`);
  }
  if (isDeleting(existing)) return waiting(`the former bastion ${name} is being deleted`);
  if (!isMadeFrom(existing, wanted) || isGoneForGood(existing)) {
    await deleteServer(scope, existing);
    return waiting(`bastion ${name} is being replaced`);
  }
  await followCredentials(scope, existing, wanted);
  noteServer(scope, existing);
  if (existing.status?.ready !== true) {
    const problem = existing.status?.conditions?.find(({ status }) => status === 'False')?.message;
    return waiting(`bastion ${name} is not ready${problem ? `: ${problem}` : ''}`);
  }
  return noteAddresses(scope, existing);
}

function wantedServer({ draft }: ClusterScope): OpenStackServerSpec {
  const { bastion, managedSecurityGroups } = draft.spec;
  if (!bastion?.spec)
    throw new UnusableInput('spec.bastion.spec is missing; describe the server, or disable the bastion');
  try {
    return desiredServerSpec(bastion.spec, {
      cluster: draft,
      managedGroupId: managedSecurityGroups ? draft.status?.bastionSecurityGroup?.id : undefined,
      availabilityZone: bastion.availabilityZone || undefined,
    });
  } catch (error) {
    if (!(error instanceof InvalidMachineSpec)) throw error;
    throw new UnusableInput(`spec.bastion.spec: ${error.message}`, { reason, cause: error });
  }
}

function waiting(message: string): Wait {
  return { ms: waitMs, reason, message };
}

function findServer(scope: ClusterScope, name: string): OpenStackServer | undefined {
  const { context, original } = scope;
  const server = context.cache.lister(OpenStackServers).get({ namespace: original.metadata.namespace ?? '', name });
  if (!server || isOwnedBy(server, original)) return server;
  throw new UnusableInput(
    `spec.bastion: OpenStackServer ${name} exists and belongs to somebody else; delete or rename it`,
    { reason },
  );
}

/** The identityRef is not part of the hash, because credentials rotate. */
function hashOf({ identityRef: _, ...spec }: OpenStackServerSpec): string {
  return createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 32);
}

/** Tells whether the bastion's server is permanently gone; only the cluster can replace it. */
function isGoneForGood({ status }: OpenStackServer): boolean {
  return status?.conditions?.some(({ status: is, reason }) => is === 'False' && reason === instanceGoneReason) === true;
}

function isMadeFrom(server: OpenStackServer, wanted: OpenStackServerSpec): boolean {
  const noted = server.metadata.annotations?.[specAnnotation];
  if (noted !== undefined) return noted === hashOf(wanted);
  const { identityRef: _, ...rest } = wanted;
  return shows(server.spec, rest);
}

async function createServer(scope: ClusterScope, name: string, spec: OpenStackServerSpec): Promise<void> {
  const { context, original, clusterName } = scope;
  const { namespace } = original.metadata;
  const server: OpenStackServer = {
    apiVersion: `${infrastructureGroup}/${OpenStackServers.version}`,
    kind: OpenStackServers.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: {
        [clusterNameLabel]: original.metadata.labels?.[clusterNameLabel] ?? clusterName,
        ...filterLabelOf(original),
      },
      annotations: { [specAnnotation]: hashOf(spec) },
      ownerReferences: [ownerReference(original, OpenStackClusters)],
    },
    spec,
  };
  try {
    await context.client.create(OpenStackServers, server, { fieldManager, signal: context.signal });
  } catch (error) {
    if (!isInvalid(error)) throw error;
    throw new UnusableInput(`spec.bastion.spec: ${explain(error)}`, { reason, cause: error });
  }
}

async function followCredentials(
  { context }: ClusterScope,
  server: OpenStackServer,
  { identityRef }: OpenStackServerSpec,
): Promise<void> {
  const { type = 'Secret', ...rest } = server.spec.identityRef;
  if (deepEqual({ type, ...rest }, { type: 'Secret', ...identityRef })) return;
  const key = { namespace: server.metadata.namespace ?? '', name: server.metadata.name ?? '' };
  await context.client.patch(
    OpenStackServers,
    key,
    'merge',
    { spec: { identityRef: { ...identityRef } } },
    {
      fieldManager,
      signal: context.signal,
    },
  );
}

function noteServer(scope: ClusterScope, server: OpenStackServer): void {
  const status = statusOf(scope);
  const { instanceID, instanceState, resolved, resources } = server.status ?? {};
  const { ip, floatingIP } = status.bastion ?? {};
  status.bastion = {
    name: server.metadata.name ?? '',
    ...(instanceID !== undefined && { id: instanceID }),
    ...(instanceState !== undefined && { state: instanceState }),
    ...(server.spec.sshKeyName !== '' && { sshKeyName: server.spec.sshKeyName }),
    ...(resolved && { resolved }),
    ...(resources && { resources }),
    ...(ip !== undefined && { ip }),
    ...(floatingIP !== undefined && { floatingIP }),
  };
}

/** Records the addresses of a running bastion, including its floating IP. */
async function noteAddresses(scope: ClusterScope, server: OpenStackServer): Promise<Wait | undefined> {
  const { spec } = scope.draft;
  const bastion = statusOf(scope).bastion ?? {};
  const before = [bastion.ip, bastion.floatingIP];
  const portId = server.status?.resources?.ports?.[0]?.id;
  const port = portId === undefined ? undefined : await look(scope, 'port', portId);
  if (!port) return waiting(`the port of bastion ${bastion.name} is not known yet`);
  const fixed = port.fixedIps[0]?.address;
  if (fixed !== undefined) bastion.ip = fixed;
  if (spec.enableExternalNetwork !== false && statusOf(scope).externalNetwork) {
    const desired = { role: 'bastion', field: 'spec.bastion.floatingIP' } as const;
    bastion.floatingIP = await attempt(`bastion ${bastion.name} could not be given a floating IP`, reason, async () => {
      const address = await reserveFloatingIp(scope, {
        ...desired,
        address: spec.bastion?.floatingIP || undefined,
        portId: port.id,
      });
      return (await attachFloatingIp(scope, address, port.id, desired)).address;
    });
  }
  // the load balancer's allowed CIDRs contain the bastion's addresses
  const isListed = (spec.apiServer?.managedLoadBalancer?.allowedCIDRs ?? []).length > 0;
  return isListed && !deepEqual(before, [bastion.ip, bastion.floatingIP])
    ? { ms: 1_000, reason, message: `waiting for the load balancer to allow bastion ${bastion.name}` }
    : undefined;
}

/** Deletes the bastion: an own floating IP, then the server. Waits until the server is gone. */
export async function removeBastion(scope: ClusterScope): Promise<Wait | undefined> {
  const status = statusOf(scope);
  const name = bastionName(scope.clusterName);
  const server = scope.context.cache
    .lister(OpenStackServers)
    .get({ namespace: scope.original.metadata.namespace ?? '', name });
  const isOwn = server !== undefined && isOwnedBy(server, scope.original);
  const annotation = floatingIpAnnotation('bastion');
  const hasAddress = scope.draft.metadata.annotations?.[annotation] !== undefined;
  if (!isOwn && !status.bastion && !hasAddress) return undefined;
  await attempt(`the floating IP of bastion ${name} could not be deleted`, reason, async () => {
    const { floatingIps } = scope.access.openstack.network;
    for (const { id, address } of await findOwnFloatingIps(scope, 'bastion')) {
      // keep a floating IP that the user specified
      if (address === scope.draft.spec.bastion?.floatingIP) continue;
      await floatingIps.delete(id, { signal: scope.context.signal });
      scope.access.view.forget('floatingIp', id);
    }
  });
  if (hasAddress) {
    const { [annotation]: _, ...annotations } = scope.draft.metadata.annotations ?? {};
    scope.draft.metadata.annotations = annotations;
  }
  if (!server || !isOwn) {
    delete status.bastion;
    return undefined;
  }
  if (!isDeleting(server)) await deleteServer(scope, server);
  noteServer(scope, server);
  return waiting(`bastion ${name} is being deleted`);
}

async function deleteServer({ context }: ClusterScope, server: OpenStackServer): Promise<void> {
  const { namespace = '', name = '', uid } = server.metadata;
  await context.client.delete(
    OpenStackServers,
    { namespace, name },
    {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    },
  );
}
