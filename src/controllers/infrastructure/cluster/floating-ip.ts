import { ipFamily } from '../../../machinery/index.ts';
import { collect, type FloatingIp, isOpenStackError } from '../../../openstack/index.ts';
import {
  clusterDescription,
  type FloatingIpRole,
  floatingIpAnnotation,
  upstreamClusterDescription,
} from '../common/names.ts';
import { UnusableInput } from '../common/outcomes.ts';
import { carriesMark, isMarked, ownerMark } from '../common/ownership.ts';
import { record } from './events.ts';
import { type ClusterScope, follow, look } from './scope.ts';
import { ensureTags, oldest } from './tags.ts';

export interface FloatingIpSpec {
  readonly role: FloatingIpRole;
  /** address specified by the user */
  readonly address?: string | undefined;
  /** published address, which others rely on */
  readonly published?: string | undefined;
  /** port to attach a new floating IP to at creation */
  readonly portId?: string | undefined;
  /** field of the spec with the address, for messages */
  readonly field: string;
}

/**
 * Returns the floating IP of a role: the recorded one, the specified one, one with our mark, or a new one. It stays
 * reserved for the cluster even while not attached.
 */
export async function reserveFloatingIp(scope: ClusterScope, desired: FloatingIpSpec): Promise<FloatingIp> {
  const found = (await recorded(scope, desired)) ?? (await existing(scope, desired)) ?? (await create(scope, desired));
  const address = await ensureOwnTags(scope, found);
  follow(scope, 'floatingIp', address.id);
  scope.access.view.remember('floatingIp', address);
  const { metadata } = scope.draft;
  metadata.annotations = { ...metadata.annotations, [floatingIpAnnotation(desired.role)]: address.id };
  return address;
}

/** Tells whether the floating IP was created for this cluster, so that it is deleted with it. */
export function isOurFloatingIp(scope: ClusterScope, address: FloatingIp, role: FloatingIpRole): boolean {
  return carriesMark(address, scope.owner, role) || isUpstreams(scope, address, role);
}

/**
 * Tells whether upstream's provider reserved the floating IP for this cluster: it has upstream's description, and the
 * cluster publishes the address.
 */
function isUpstreams(scope: ClusterScope, { address, description }: FloatingIp, role: FloatingIpRole): boolean {
  if (!scope.isBegunByUpstream || description !== upstreamClusterDescription(scope.base)) return false;
  const { spec, status } = scope.draft;
  const told =
    role === 'bastion'
      ? [status?.bastion?.floatingIP]
      : [status?.apiServerManagedLoadBalancer?.ip, spec.controlPlaneEndpoint?.host];
  return told.includes(address);
}

async function recorded(scope: ClusterScope, desired: FloatingIpSpec): Promise<FloatingIp | undefined> {
  const id = scope.draft.metadata.annotations?.[floatingIpAnnotation(desired.role)];
  const known = id === undefined ? undefined : await look(scope, 'floatingIp', id);
  // the user may have specified another address since
  return known && (desired.address === undefined || known.address === desired.address) ? known : undefined;
}

async function existing(scope: ClusterScope, desired: FloatingIpSpec): Promise<FloatingIp | undefined> {
  if (desired.address !== undefined) return atAddress(scope, desired.address);
  const own = oldest(await findOwnFloatingIps(scope, desired.role));
  if (own || ipFamily(desired.published ?? '') === undefined) return own;
  // The own floating IP was deleted and recreated by someone else with the same address, which only an administrator
  // can do. It may be attached to a machine already.
  const again = await atAddress(scope, desired.published ?? '');
  return again && !isMarked(again) ? again : undefined;
}

async function atAddress(scope: ClusterScope, address: string): Promise<FloatingIp | undefined> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const found = await collect(openstack.network.floatingIps.list({ address, projectId }, { signal }));
  return found[0];
}

export async function findOwnFloatingIps(scope: ClusterScope, role: FloatingIpRole): Promise<FloatingIp[]> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const list = (description: string): Promise<FloatingIp[]> =>
    collect(openstack.network.floatingIps.list({ description, projectId }, { signal }));
  const marked = await list(descriptionOf(scope, role));
  const upstreams = scope.isBegunByUpstream ? await list(upstreamClusterDescription(scope.base)) : [];
  return [...marked, ...upstreams.filter((address) => isUpstreams(scope, address, role))];
}

function descriptionOf({ base, owner }: ClusterScope, role: FloatingIpRole): string {
  return clusterDescription(base, ownerMark(owner, role));
}

async function create(scope: ClusterScope, desired: FloatingIpSpec): Promise<FloatingIp> {
  const external = scope.draft.status?.externalNetwork;
  if (!external) {
    throw new UnusableInput(
      'a floating IP is wanted and there is no external network to take it from; name one in spec.externalNetwork, or do without a floating IP (spec.apiServer.enableFloatingIP: false)',
    );
  }
  const address = desired.address ?? (ipFamily(desired.published ?? '') === undefined ? undefined : desired.published);
  const { openstack } = scope.access;
  try {
    const made = await openstack.network.floatingIps.create(
      {
        networkId: external.id,
        description: descriptionOf(scope, desired.role),
        ...(address !== undefined && { address }),
        ...(desired.portId !== undefined && { portId: desired.portId }),
      },
      { signal: scope.context.signal },
    );
    record(scope, 'SuccessfulCreateFloatingIP', `Created floating IP ${made.address} with id ${made.id}`);
    return made;
  } catch (error) {
    if (address === undefined || !isOpenStackError(error, 'forbidden', 'badRequest', 'conflict')) throw error;
    const why =
      desired.address === undefined
        ? `floating IP ${address}, at which the cluster is reached, was deleted and cannot be reserved again`
        : `${desired.field}: there is no floating IP ${address} in this project and it cannot be reserved`;
    throw new UnusableInput(
      `${why}: ${error.detail}; let an administrator create it on network ${external.name} for this project`,
      { cause: error },
    );
  }
}

async function ensureOwnTags(scope: ClusterScope, address: FloatingIp): Promise<FloatingIp> {
  const isOurs = address.description.includes(ownerMark(scope.owner).slice(0, -1));
  return isOurs ? ensureTags(scope, address, scope.access.openstack.network.floatingIps) : address;
}

/**
 * Attaches a floating IP to a port. An own one attached elsewhere is moved back; a user-supplied one in use stays where
 * it is.
 */
export async function attachFloatingIp(
  scope: ClusterScope,
  address: FloatingIp,
  portId: string,
  desired: Pick<FloatingIpSpec, 'role' | 'field'>,
): Promise<FloatingIp> {
  if (address.portId === portId) return address;
  if (address.portId !== undefined && !isOurFloatingIp(scope, address, desired.role)) {
    throw new UnusableInput(
      `${desired.field}: floating IP ${address.address} is in use by port ${address.portId}; free it, or name another one`,
    );
  }
  const { openstack, view } = scope.access;
  const changed = await openstack.network.floatingIps.update(address.id, { portId }, { signal: scope.context.signal });
  record(scope, 'SuccessfulAssociateFloatingIP', `Associated floating IP ${changed.address} with port ${portId}`);
  view.remember('floatingIp', changed);
  return changed;
}
