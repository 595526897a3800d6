import type { Caller } from '../../core/caller.ts';
import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { StandardRow } from '../resource.ts';
import type { NetworkRow, SharedType } from '../rows.ts';
import { sharingKey } from '../tables.ts';

/** Target of RBAC policies for all projects. */
export const everybody = '*';

/** Reports whether a resource is shared with a project, individually or with everybody. */
export function isGranted({ sharings }: Neutron, id: string, projectId: string | undefined): boolean {
  return (
    sharings.count('grant', sharingKey(id, everybody)) > 0 ||
    (projectId !== undefined && sharings.count('grant', sharingKey(id, projectId)) > 0)
  );
}

/**
 * Reports whether the caller may use a resource: it belongs to the project or is shared, or the caller is an
 * administrator.
 */
export function canUse(neutron: Neutron, row: Readonly<StandardRow>, caller: Caller): boolean {
  return caller.isAdmin || row.tenant_id === caller.projectId || isGranted(neutron, row.id, caller.projectId);
}

/** Reports whether a project may use another project's network. */
export function isSharedWith(
  { sharings }: Neutron,
  network: Readonly<NetworkRow>,
  projectId: string | undefined,
): boolean {
  return network.shared || (projectId !== undefined && sharings.count('grant', sharingKey(network.id, projectId)) > 0);
}

/** Shares a resource with everybody, or stops sharing it. */
export function setShared(neutron: Neutron, type: SharedType, row: Readonly<StandardRow>, isShared: boolean): void {
  const { sharings } = neutron;
  const present = sharings.first('grant', sharingKey(row.id, everybody));
  if (isShared && !present)
    insertSharing(neutron, { object_type: type, object_id: row.id, owner: row.tenant_id, target: everybody });
  if (!isShared && present) sharings.delete(present.id);
}

/** Shares a network with everybody, or stops sharing it. */
export function shareWithEverybody(neutron: Neutron, network: Readonly<NetworkRow>, isShared: boolean): void {
  setShared(neutron, 'network', network, isShared);
  if (network.shared !== isShared) neutron.networks.update(network.id, { shared: isShared });
}

export function insertSharing(
  neutron: Neutron,
  {
    object_type,
    object_id,
    owner,
    target,
  }: { object_type: SharedType; object_id: string; owner: string; target: string },
): ReturnType<Neutron['sharings']['insert']> {
  const { tags: _untagged, ...standard } = neutron.standard({ tenant_id: owner });
  return neutron.sharings.insert({
    ...standard,
    object_type,
    object_id,
    target_tenant: target,
    action: 'access_as_shared',
  });
}

/** Removes all sharing of a deleted resource. */
export function dropSharings({ sharings }: Neutron, id: string): void {
  for (const sharing of [...sharings.by('object', id)]) sharings.delete(sharing.id);
}

/** Reports whether projects that would lose access to a network have ports on it. */
export function hasUsers(
  { ports }: Neutron,
  network: Readonly<NetworkRow>,
  isLeftOut: (projectId: string) => boolean,
): boolean {
  for (const { tenant_id: user } of ports.by('network', network.id)) {
    if (user !== '' && user !== network.tenant_id && isLeftOut(user)) return true;
  }
  return false;
}

export function sharingInUse(network: Readonly<NetworkRow>): Error {
  const message = `Unable to reconfigure sharing settings for network ${network.name}. Multiple tenants are using it.`;
  return refuse(409, 'InvalidSharedSetting', message);
}
