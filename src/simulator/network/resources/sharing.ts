import type { Caller } from '../../core/caller.ts';
import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { StandardRow } from '../resource.ts';
import type { NetworkRow, SharedType } from '../rows.ts';
import { sharingKey } from '../tables.ts';

/** Stands for every project. */
export const everybody = '*';

/** Whether something was shared with a project, by name or with everybody. */
export function isGranted({ sharings }: Neutron, id: string, projectId: string | undefined): boolean {
  return (
    sharings.count('grant', sharingKey(id, everybody)) > 0 ||
    (projectId !== undefined && sharings.count('grant', sharingKey(id, projectId)) > 0)
  );
}

/** Whether the caller may see and use something: their own, shared with them, or anything for an administrator. */
export function canUse(neutron: Neutron, row: Readonly<StandardRow>, caller: Caller): boolean {
  return caller.isAdmin || row.tenant_id === caller.projectId || isGranted(neutron, row.id, caller.projectId);
}

/** Whether a project may use a network that is not its own. */
export function isSharedWith(
  { sharings }: Neutron,
  network: Readonly<NetworkRow>,
  projectId: string | undefined,
): boolean {
  return network.shared || (projectId !== undefined && sharings.count('grant', sharingKey(network.id, projectId)) > 0);
}

/** Shares something with everybody, or no longer. */
export function setShared(neutron: Neutron, type: SharedType, row: Readonly<StandardRow>, isShared: boolean): void {
  const { sharings } = neutron;
  const present = sharings.first('grant', sharingKey(row.id, everybody));
  if (isShared && !present)
    insertSharing(neutron, { object_type: type, object_id: row.id, owner: row.tenant_id, target: everybody });
  if (!isShared && present) sharings.delete(present.id);
}

/** Shares a network with everybody, or no longer. */
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

/** Ends all sharing of something that is gone. */
export function dropSharings({ sharings }: Neutron, id: string): void {
  for (const sharing of [...sharings.by('object', id)]) sharings.delete(sharing.id);
}

/** Whether projects that are about to lose a network have ports on it. */
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
