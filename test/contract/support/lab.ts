import type { FloatingIp, Network, OpenStack, Router, Subnet } from '../../../src/openstack/index.ts';
import type { ContractCloud } from './contract.ts';
import { uniqueName } from './tenant.ts';

/** A network with a subnet. */
export interface Lab {
  readonly network: Network;
  readonly subnet: Subnet;
}

export async function createLab(cloud: OpenStack, cidr = '10.20.0.0/24'): Promise<Lab> {
  const network = await cloud.network.networks.create({ name: uniqueName('net') });
  const subnet = await cloud.network.subnets.create({ networkId: network.id, name: network.name, cidr, ipVersion: 4 });
  return { network, subnet };
}

/** Creates a network with an external router. */
export async function createRoutedLab(cloud: ContractCloud): Promise<Lab & { router: Router }> {
  const { routers } = cloud.member.network;
  const lab = await createLab(cloud.member);
  const router = await routers.create({ name: lab.network.name, gateway: { networkId: cloud.world.external.id } });
  await routers.addInterface(router.id, { subnetId: lab.subnet.id });
  return { ...lab, router };
}

export function allocate(cloud: ContractCloud): Promise<FloatingIp> {
  return cloud.member.network.floatingIps.create({ networkId: cloud.world.external.id });
}
