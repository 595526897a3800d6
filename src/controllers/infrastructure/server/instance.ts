import { Secrets } from '../../../api/index.ts';
import { isNotFound } from '../../../machinery/index.ts';
import { collect, isOpenStackError, type OpenStackError, type Server } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { attempt, CloudFault, cloudFaultOf, mayHaveHappened } from '../common/outcomes.ts';
import { dependencyFailedReason, instanceCreateFailedReason } from './conditions.ts';
import { serverSpec } from './desired.ts';
import { notePlace } from './loss.ts';
import { findPorts, namedPort, recordPorts } from './ports.ts';
import { type ServerScope, save, updateStatus } from './scope.ts';

/** Time for a server to appear in Nova's lists after a lost creation response. */
const lostAnswerMs = 5_000;
/** Poll interval for a missing Secret, because Secrets are not watched here. */
const missingSecretMs = 15_000;

export interface ServerMaterial {
  readonly portIds: readonly string[];
  readonly volumes: ReadonlyMap<string, string>;
}

/**
 * Finds a server with our mark: one whose creation response was lost, or one created by another management cluster.
 * Records its id and ports; returns false if there is none.
 */
export async function adoptInstance(scope: ServerScope): Promise<boolean> {
  if (scope.memory.untried.has('server')) return false;
  const [found] = await findInstances(scope);
  if (!found) return false;
  scope.cloud.view.remember('server', found);
  await recordPorts(scope);
  notePlace(scope);
  remember(scope, found.id);
  updateStatus(scope.server, { instanceID: found.id, instanceState: found.status, ready: false });
  await save(scope);
  return true;
}

/**
 * Creates the server. Its id is written with what is observed of it, or some seconds later: after a crash, the server is
 * found by its mark.
 */
export async function createInstance(scope: ServerScope, material: ServerMaterial): Promise<void> {
  scope.memory.untried.delete('server');
  const id = await askForServer(scope, material);
  // so that a server deleted before it is first observed is still reported missing in this project
  notePlace(scope);
  remember(scope, id);
  recallInstance(scope);
}

function remember({ server, memory }: ServerScope, id: string): void {
  const { resources } = server.status ?? {};
  memory.created = { instanceID: id, ...(resources && { resources }) };
}

/** Adds the server that this process created to a status that does not name it yet. Returns false if there is none. */
export function recallInstance({ server, memory }: ServerScope): boolean {
  if (server.status?.instanceID !== undefined || !memory.created) return false;
  updateStatus(server, { ...memory.created, instanceState: 'BUILD', ready: false });
  return true;
}

/** Lists servers with our mark, oldest first. */
export async function findInstances(scope: ServerScope): Promise<Server[]> {
  const { cloud, context, server, owner } = scope;
  const { name = '' } = server.metadata;
  const found = await attempt(`Server ${name} cannot be looked for`, instanceCreateFailedReason, () =>
    collect(
      // Nova treats the name filter as a regular expression
      cloud.openstack.compute.servers.list({ name: `^${name.replaceAll('.', '\\.')}$` }, { signal: context.signal }),
    ),
  );
  const unmarked = found.filter(({ metadata }) => metadata[ownerMetadataKey] === undefined);
  const upstreams = unmarked.length > 0 && scope.isBegunByUpstream ? await devicesOf(scope) : [];
  return found
    .filter((one) => one.metadata[ownerMetadataKey] === owner || (unmarked.includes(one) && upstreams.includes(one.id)))
    .filter((one) => !isGone(one))
    .toSorted((a, b) => ((a.created ?? '') < (b.created ?? '') ? -1 : 1));
}

/**
 * Returns the devices that the server's ports are attached to. Upstream's provider sets no mark on servers, so the one
 * that holds its ports is identified this way.
 */
async function devicesOf(scope: ServerScope): Promise<string[]> {
  const { server } = scope;
  const wanted =
    server.status?.resolved?.ports ?? server.spec.ports.map((port, index) => namedPort(server, port, index));
  return (await findPorts(scope, wanted)).map(({ deviceId }) => deviceId);
}

/** Nova lists deleted servers for a while. */
export const isGone = ({ status }: Pick<Server, 'status'>): boolean =>
  status === 'DELETED' || status === 'SOFT_DELETED';

async function askForServer(scope: ServerScope, material: ServerMaterial): Promise<string> {
  const { server, cloud, context, owner } = scope;
  const { name = '' } = server.metadata;
  const desired = serverSpec({
    name,
    spec: server.spec,
    resolved: server.status?.resolved ?? {},
    portIds: material.portIds,
    volumes: material.volumes,
    userData: await userDataOf(scope),
    mark: { [ownerMetadataKey]: owner },
  });
  try {
    const { id } = await cloud.openstack.compute.servers.create(desired, { signal: context.signal });
    context.log.info('Server created', { server: name, id });
    context.events.event(server, 'Normal', 'Successfulcreateserver', `Created server ${name} with id ${id}`);
    return id;
  } catch (error) {
    const fault = explain(error, scope);
    context.events.event(server, 'Warning', 'Failedcreateserver', fault.message);
    throw fault;
  }
}

/** Adds to Nova's terse refusal the spec fields that may be meant. */
function explain(error: unknown, { server }: ServerScope): CloudFault {
  const doing = `Server ${server.metadata.name} cannot be created`;
  const fault = cloudFaultOf(error, doing, instanceCreateFailedReason);
  if (isOpenStackError(error, 'badRequest', 'notFound', 'conflict')) {
    const cure = cureOf(error, server.spec);
    return cure === undefined ? fault : new CloudFault(fault.reason, `${fault.message}; ${cure}`, { cause: error });
  }
  if (!mayHaveHappened(error)) return fault;
  return new CloudFault(fault.reason, fault.message, { retryMs: fault.retryMs ?? lostAnswerMs, cause: error });
}

function cureOf({ detail }: OpenStackError, spec: ServerScope['server']['spec']): string | undefined {
  if (/key_?(name|pair)/i.test(detail)) {
    return `sshKeyName is ${JSON.stringify(spec.sshKeyName)}: import a key pair of that name, or name another`;
  }
  if (/availability zone/i.test(detail)) {
    return `the availability zone is ${JSON.stringify(spec.availabilityZone)}: name one that nova has, in failureDomain`;
  }
  if (/flavor/i.test(detail)) return `the flavor is ${JSON.stringify(spec.flavorID ?? spec.flavor)}: name another`;
  if (/image/i.test(detail)) return `the image is ${JSON.stringify(spec.image)}: name another`;
  if (/server ?group/i.test(detail)) return `the server group is ${JSON.stringify(spec.serverGroup)}: name another`;
  return undefined;
}

async function userDataOf({ server, context }: ServerScope): Promise<Uint8Array | undefined> {
  const { name } = server.spec.userDataRef ?? {};
  const { namespace = '' } = server.metadata;
  if (name === undefined || name === '') return undefined;
  try {
    const secret = await context.client.get(Secrets, { namespace, name }, { signal: context.signal });
    const value = secret.data?.['value'];
    if (value !== undefined) return Buffer.from(value, 'base64');
    throw new CloudFault(
      dependencyFailedReason,
      `Secret ${namespace}/${name} has no key "value" with the user data; it is written by the bootstrap provider`,
      { retryMs: missingSecretMs },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new CloudFault(
      dependencyFailedReason,
      `Secret ${namespace}/${name} with the user data does not exist; it is written by the bootstrap provider`,
      { retryMs: missingSecretMs, cause: error },
    );
  }
}
