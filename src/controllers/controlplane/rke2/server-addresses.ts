import type { Cluster, Machine, RKE2ControlPlane } from '../../../api/index.ts';
import { isDeleting } from '../../shared/index.ts';
import type { MachineHealth } from '../machine-plane/health/machine-health.ts';

type AddressType = 'InternalIP' | 'ExternalIP';

const typesInOrder: Readonly<Record<string, readonly AddressType[]>> = {
  'internal-first': ['InternalIP', 'ExternalIP'],
  'internal-only-ips': ['InternalIP'],
  'external-only-ips': ['ExternalIP'],
};

/** Lists registration addresses, best first, by the registration method of the control plane. */
export function serverAddresses(
  { spec }: RKE2ControlPlane,
  cluster: Cluster,
  machines: readonly Machine[],
  health: ReadonlyMap<string, MachineHealth>,
): string[] {
  const types = typesInOrder[spec.registrationMethod ?? ''];
  if (!types) {
    const host =
      spec.registrationMethod === 'address' ? spec.registrationAddress : cluster.spec.controlPlaneEndpoint?.host;
    return host ? [host] : [];
  }
  const isWell = ({ metadata }: Machine): boolean => health.get(metadata.name ?? '')?.componentsHealthy === true;
  return machines
    .filter((machine) => machine.status?.nodeRef && !isDeleting(machine))
    .sort((a, b) => Number(isWell(b)) - Number(isWell(a)))
    .flatMap((machine) => addressOf(machine, types) ?? []);
}

function addressOf({ status }: Machine, types: readonly AddressType[]): string | undefined {
  for (const type of types) {
    const found = status?.addresses?.find((one) => one.type === type && one.address !== '');
    if (found) return found.address;
  }
  return undefined;
}
