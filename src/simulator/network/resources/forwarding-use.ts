import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { FloatingIpRow } from '../rows.ts';

/** Renders the port forwardings of a floating IP. */
export function forwardingsOf({ portForwardings }: Neutron, floatingIpId: string): object[] {
  return Array.from(portForwardings.by('floatingIp', floatingIpId), (row) => ({
    protocol: row.protocol,
    internal_ip_address: row.internal_ip_address,
    internal_port: single(row.internal_port_range),
    external_port: single(row.external_port_range),
    internal_port_range: row.internal_port_range,
    external_port_range: row.external_port_range,
  }));
}

/** Returns the port of a range with one element. */
function single(range: string): number | null {
  const [first, last] = range.split(':');
  return first === last ? Number(first) : null;
}

/** Refuses to associate or delete a floating IP with port forwardings. */
export function refuseForwarding({ portForwardings }: Neutron, { id }: Readonly<FloatingIpRow>): void {
  if (portForwardings.count('floatingIp', id) === 0) return;
  throw refuse(409, 'FipInUseByPortForwarding', `Floating IP ${id} in use by Port Forwarding resources.`);
}

/** Deletes the port forwardings to a deleted port. */
export function dropForwardings(neutron: Neutron, portId: string): void {
  for (const { id } of [...neutron.portForwardings.by('port', portId)]) neutron.portForwardings.delete(id);
}
