import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';

/** Refuses to delete a parent or child port of a trunk. */
export function refuseTrunkUse({ trunks }: Neutron, portId: string): void {
  const asParent = trunks.first('parent', portId);
  if (asParent) {
    const message = `Port ${portId} is currently a parent port for trunk ${asParent.id}.`;
    throw refuse(409, 'PortInUseAsTrunkParent', message);
  }
  const asChild = trunks.first('child', portId);
  if (asChild) {
    throw refuse(409, 'PortInUseAsSubPort', `Port ${portId} is currently a subport for trunk ${asChild.id}.`);
  }
}

/** Renders the trunk in the view of its parent port. */
export function trunkDetails({ trunks, ports }: Neutron, portId: string): object | undefined {
  const trunk = trunks.first('parent', portId);
  if (!trunk) return undefined;
  return {
    trunk_id: trunk.id,
    sub_ports: trunk.sub_ports.map(({ segmentation_id, segmentation_type, port_id }) => ({
      segmentation_id,
      segmentation_type,
      port_id,
      mac_address: ports.get(port_id)?.mac_address,
    })),
  };
}
