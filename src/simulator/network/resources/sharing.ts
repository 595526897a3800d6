import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { NetworkRow } from '../rows.ts';
import { sharingKey } from '../tables.ts';

/** Stands for every project. */
export const everybody = '*';

/** Whether a project may use a network that is not its own. */
export function isSharedWith(
  { sharings }: Neutron,
  network: Readonly<NetworkRow>,
  projectId: string | undefined,
): boolean {
  return network.shared || (projectId !== undefined && sharings.count('grant', sharingKey(network.id, projectId)) > 0);
}

/** Shares a network with everybody, or no longer. */
export function shareWithEverybody(neutron: Neutron, network: Readonly<NetworkRow>, isShared: boolean): void {
  const { sharings, networks } = neutron;
  const present = sharings.first('grant', sharingKey(network.id, everybody));
  if (isShared && !present) insertSharing(neutron, network, network.tenant_id, everybody);
  if (!isShared && present) sharings.delete(present.id);
  if (network.shared !== isShared) networks.update(network.id, { shared: isShared });
}

export function insertSharing(
  neutron: Neutron,
  network: Readonly<NetworkRow>,
  owner: string,
  target: string,
): ReturnType<Neutron['sharings']['insert']> {
  const { tags: _untagged, ...standard } = neutron.standard({ tenant_id: owner });
  return neutron.sharings.insert({
    ...standard,
    object_type: 'network',
    object_id: network.id,
    target_tenant: target,
    action: 'access_as_shared',
  });
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
