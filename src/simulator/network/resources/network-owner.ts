import type { Caller } from '../../core/caller.ts';
import type { Values } from '../attributes/attribute.ts';
import type { Neutron } from '../neutron.ts';
import { networkNotFound, refuse } from '../refusals.ts';
import { isSharedWith } from './sharing.ts';

/** Ports and subnets may be created only on the caller's own and on shared networks. */
export function checkNetworkOwner(neutron: Neutron, values: Values, caller: Caller, kind: 'port' | 'subnet'): void {
  const id = values['network_id'] as string;
  const network = neutron.networks.get(id);
  if (!network) throw networkNotFound(id);
  if (caller.isAdmin || network.tenant_id === caller.projectId) return;
  if (isSharedWith(neutron, network, caller.projectId)) return;
  if (!network['router:external']) throw networkNotFound(id);
  throw refuse(403, 'HTTPForbidden', `Tenant ${caller.projectId} not allowed to create ${kind} on this network`);
}
