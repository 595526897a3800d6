import type { Core } from '../../core/core.ts';
import type { Change } from '../../core/state/change-log.ts';
import type { Row } from '../../core/state/table.ts';

/** Resources whose routes may have changed. */
export interface Touched {
  /** ids of ports */
  readonly ports: ReadonlySet<string>;
  /** floating IPs, including released ones */
  readonly addresses: ReadonlySet<string>;
  /** fixed addresses of deleted ports */
  readonly lost: ReadonlySet<string>;
}

export interface TopologyWatch {
  /** Reports a change that is in no table: of a port's machine or its listeners. */
  portTouched(portId: string): void;
  stop(): void;
}

interface FloatingIp extends Row {
  readonly floating_ip_address: string;
  readonly port_id: string | null;
}

interface Port extends Row {
  readonly fixed_ips: readonly { readonly ip_address: string }[];
}

/**
 * Reports the affected ports when networks, groups or load balancers change, once per transaction, after the commit.
 */
export function watchTopology(core: Core, told: (touched: Touched) => void): TopologyWatch {
  let ports = new Set<string>();
  let addresses = new Set<string>();
  let lost = new Set<string>();
  let isWaiting = false;
  let isStopped = false;
  // Deleted rows have no columns, so the relations needed then are kept here.
  const groupOfRule = new Map<string, string>();
  const floatingIps = new Map<string, { address: string; portId: string | null }>();
  const fixedAddresses = new Map<string, readonly string[]>();

  const flush = (): void => {
    isWaiting = false;
    if (isStopped) return;
    const touched: Touched = { ports, addresses, lost };
    ports = new Set();
    addresses = new Set();
    lost = new Set();
    told(touched);
  };
  const soon = (): void => {
    if (isWaiting || (ports.size === 0 && addresses.size === 0 && lost.size === 0)) return;
    isWaiting = true;
    core.state.afterCommit(flush);
  };
  const groupTouched = (groupId: string): void => {
    for (const id of core.services.network.reach.portsOfGroup(groupId)) ports.add(id);
  };

  const look = ({ table, id, row }: Change): void => {
    switch (table) {
      case 'network.ports':
        if (row) {
          ports.add(id);
          fixedAddresses.set(
            id,
            (row as Port).fixed_ips.map(({ ip_address }) => ip_address),
          );
        } else {
          for (const address of fixedAddresses.get(id) ?? []) lost.add(address);
          fixedAddresses.delete(id);
        }
        break;
      case 'network.floating_ips': {
        const before = floatingIps.get(id);
        if (before) {
          addresses.add(before.address);
          if (before.portId !== null) ports.add(before.portId);
        }
        floatingIps.delete(id);
        if (!row) break;
        const { floating_ip_address: address, port_id: portId } = row as FloatingIp;
        floatingIps.set(id, { address, portId });
        addresses.add(address);
        if (portId !== null) ports.add(portId);
        break;
      }
      case 'network.security_group_rules': {
        const groupId = (row as { security_group_id?: string } | undefined)?.security_group_id ?? groupOfRule.get(id);
        if (row && groupId !== undefined) groupOfRule.set(id, groupId);
        else groupOfRule.delete(id);
        if (groupId !== undefined) groupTouched(groupId);
        break;
      }
      case 'network.routers':
        for (const portId of core.services.network.reach.portsBehindRouter(id)) ports.add(portId);
        break;
      case 'loadbalancer.loadbalancers': {
        // Every change of a child also changes its load balancer. Health changes on its own.
        const portId = (row as { vip_port_id?: string } | undefined)?.vip_port_id;
        if (portId !== undefined) ports.add(portId);
        break;
      }
      case 'loadbalancer.members': {
        const poolId = (row as { pool_id?: string } | undefined)?.pool_id;
        const portId = poolId === undefined ? undefined : core.services.loadBalancer.balancerOfPool(poolId);
        if (portId !== undefined) ports.add(portId);
        break;
      }
    }
  };
  const unsubscribe = core.state.onCommit((changes) => {
    for (const change of changes) look(change);
    soon();
  });
  // Loading a saved state causes no commits.
  core.atReturn(() => {
    for (const change of core.state.rows()) look(change);
    soon();
  });

  return {
    portTouched(portId) {
      ports.add(portId);
      soon();
    },
    stop() {
      isStopped = true;
      unsubscribe();
    },
  };
}
