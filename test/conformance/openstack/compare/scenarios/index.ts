import type { Scenario } from '../scenario.ts';
import { layerSeven, loadBalancerDoor, loadBalancerParts, loadBalancers } from './load-balancers.ts';
import { networkDoor, networks, sharing, tags } from './network-basics.ts';
import { securityGroups, trunks } from './network-groups.ts';
import { exhaustion, ports } from './network-ports.ts';
import { networkQuotas } from './network-quotas.ts';
import { floatingIps, routers } from './network-routers.ts';
import { ipv6, subnets } from './network-subnets.ts';

export const scenarios: readonly Scenario[] = [
  networkDoor,
  networks,
  tags,
  sharing,
  networkQuotas,
  subnets,
  ipv6,
  ports,
  exhaustion,
  routers,
  floatingIps,
  securityGroups,
  trunks,
  loadBalancerDoor,
  loadBalancers,
  loadBalancerParts,
  layerSeven,
];
