import type { Caller } from '../../core/caller.ts';
import type { Values } from '../attributes/attribute.ts';
import type { Neutron } from '../neutron.ts';
import { networkNotFound, refuse } from '../refusals.ts';

/** Ports and subnets go on the caller's own networks and on shared ones only. */
export function checkNetworkOwner(
  { networks }: Neutron,
  values: Values,
  caller: Caller,
  kind: 'port' | 'subnet',
): void {
  const id = values['network_id'] as string;
  const network = networks.get(id);
  if (!network) throw networkNotFound(id);
  if (caller.isAdmin || network.tenant_id === caller.projectId || (network.shared && kind === 'port')) return;
  if (!network.shared && !network['router:external']) throw networkNotFound(id);
  if (network.shared) return;
  throw refuse(403, 'HTTPForbidden', `Tenant ${caller.projectId} not allowed to create ${kind} on this network`);
}
