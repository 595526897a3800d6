import type { LoadBalancerService } from '../core/contracts.ts';
import { type Octavia, partsOf } from './octavia.ts';

/** What the operators' tools do to load balancers. */
export function loadBalancerService(octavia: Octavia): LoadBalancerService {
  const { loadBalancers, core } = octavia;
  return {
    breakLoadBalancer(id) {
      if (!loadBalancers.has(id)) return false;
      octavia.abandon(id);
      for (const part of partsOf(octavia, id)) octavia.mark(part, 'ERROR');
      loadBalancers.update(id, { provisioning_status: 'ERROR', operating_status: 'ERROR', updated_at: core.now() });
      return true;
    },
  };
}
