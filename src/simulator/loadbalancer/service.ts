import type { LoadBalancerService } from '../core/contracts.ts';
import { Forwarder } from './forwarding.ts';
import { membersAt } from './health.ts';
import { type Octavia, partsOf } from './octavia.ts';

/** Octavia's interface for the network of the machines and for operator actions. */
export function loadBalancerService(octavia: Octavia): LoadBalancerService {
  const { loadBalancers, pools, core } = octavia;
  const forwarder = new Forwarder(octavia);
  return {
    forward: (vipPortId, tcpPort, source) => forwarder.forward(vipPortId, tcpPort, source),
    listeningPorts: (vipPortId) => forwarder.listeningPorts(vipPortId),
    balancersOf: (portId) => [...new Set(membersAt(octavia, portId).map(({ lb }) => lb.vip_port_id))],
    balancerOfPool: (poolId) => loadBalancers.get(pools.get(poolId)?.loadbalancer_id ?? '')?.vip_port_id,
    requeueAfter: (portId) => octavia.health.requeueAfter(portId),
    requeueAt: (address) => octavia.health.requeueAt(address),
    breakLoadBalancer(id) {
      if (!loadBalancers.has(id)) return false;
      octavia.abandon(id);
      for (const part of partsOf(octavia, id)) octavia.mark(part, 'ERROR');
      loadBalancers.update(id, { provisioning_status: 'ERROR', operating_status: 'ERROR', updated_at: core.now() });
      return true;
    },
  };
}
