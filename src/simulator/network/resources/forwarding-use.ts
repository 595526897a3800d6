import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { FloatingIpRow } from '../rows.ts';

/** What a floating address shows of them. */
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

/** The port of a range of one. */
function single(range: string): number | null {
  const [first, last] = range.split(':');
  return first === last ? Number(first) : null;
}

/** A floating address that serves single ports cannot lead to a machine as a whole, nor go. */
export function refuseForwarding({ portForwardings }: Neutron, { id }: Readonly<FloatingIpRow>): void {
  if (portForwardings.count('floatingIp', id) === 0) return;
  throw refuse(409, 'FipInUseByPortForwarding', `Floating IP ${id} in use by Port Forwarding resources.`);
}

/** Forwardings to a port go with it. */
export function dropForwardings(neutron: Neutron, portId: string): void {
  for (const { id } of [...neutron.portForwardings.by('port', portId)]) neutron.portForwardings.delete(id);
}
