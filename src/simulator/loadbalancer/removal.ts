import type { Octavia, Touched } from './octavia.ts';
import { closeRanks } from './policy-order.ts';
import type { LoadBalancerRow } from './rows.ts';
import { releaseVip } from './vip.ts';

/** Removes a load balancer with its children, its port and its security group. */
export function removeLoadBalancer(octavia: Octavia, lb: Readonly<LoadBalancerRow>): void {
  for (const { id } of [...octavia.listeners.by('loadBalancer', lb.id)])
    removePart(octavia, { table: 'listeners', id });
  for (const { id } of [...octavia.pools.by('loadBalancer', lb.id)]) removePart(octavia, { table: 'pools', id });
  octavia.loadBalancers.delete(lb.id);
  releaseVip(octavia, lb);
}

/** Removes a child with its own children. Listeners lose a default pool that is removed. */
export function removePart(octavia: Octavia, { table, id }: Touched): void {
  const { listeners, pools, members, monitors, policies, rules } = octavia;
  switch (table) {
    case 'listeners':
      for (const policy of [...policies.by('listener', id)]) removePart(octavia, { table: 'policies', id: policy.id });
      listeners.delete(id);
      return;
    case 'pools':
      for (const member of [...members.by('pool', id)]) members.delete(member.id);
      for (const monitor of [...monitors.by('pool', id)]) monitors.delete(monitor.id);
      for (const listener of [...listeners.by('pool', id)]) listeners.update(listener.id, { default_pool_id: null });
      pools.delete(id);
      return;
    case 'policies': {
      const listenerId = policies.get(id)?.listener_id;
      for (const rule of [...rules.by('policy', id)]) rules.delete(rule.id);
      policies.delete(id);
      if (listenerId !== undefined) closeRanks(octavia, listenerId);
      return;
    }
    case 'monitors': {
      const poolId = monitors.get(id)?.pool_id;
      monitors.delete(id);
      if (poolId === undefined) return;
      for (const member of [...members.by('pool', poolId)])
        members.update(member.id, { operating_status: 'NO_MONITOR' });
      return;
    }
    case 'members':
      members.delete(id);
      return;
    case 'rules':
      rules.delete(id);
      return;
  }
}
