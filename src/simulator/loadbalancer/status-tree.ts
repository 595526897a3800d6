import type { Octavia } from './octavia.ts';
import type { LoadBalancerRow, PoolRow } from './rows.ts';

/** Renders a load balancer with all its children and their statuses. */
export function statusTree(octavia: Octavia, lb: Readonly<LoadBalancerRow>): object {
  const { listeners, pools } = octavia;
  return {
    id: lb.id,
    name: lb.name,
    operating_status: lb.operating_status,
    provisioning_status: lb.provisioning_status,
    listeners: Array.from(listeners.by('loadBalancer', lb.id), (listener) => {
      const pool = listener.default_pool_id === null ? undefined : pools.get(listener.default_pool_id);
      return {
        id: listener.id,
        name: listener.name,
        operating_status: listener.operating_status,
        provisioning_status: listener.provisioning_status,
        pools: pool ? [poolStatus(octavia, pool)] : [],
      };
    }),
  };
}

function poolStatus({ members, monitors }: Octavia, pool: Readonly<PoolRow>): object {
  const monitor = monitors.first('pool', pool.id);
  return {
    id: pool.id,
    name: pool.name,
    provisioning_status: pool.provisioning_status,
    operating_status: pool.operating_status,
    ...(monitor && {
      health_monitor: {
        id: monitor.id,
        name: monitor.name,
        type: monitor.type,
        provisioning_status: monitor.provisioning_status,
        operating_status: monitor.operating_status,
      },
    }),
    members: Array.from(members.by('pool', pool.id), (member) => ({
      id: member.id,
      name: member.name,
      operating_status: member.operating_status,
      provisioning_status: member.provisioning_status,
      address: member.address,
      protocol_port: member.protocol_port,
    })),
  };
}
