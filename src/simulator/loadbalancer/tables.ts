import type { State } from '../core/state/state.ts';
import type { Table } from '../core/state/table.ts';
import type {
  HealthMonitorRow,
  L7PolicyRow,
  L7RuleRow,
  ListenerRow,
  LoadBalancerRow,
  MemberRow,
  OfferRow,
  PartRow,
  PoolRow,
  ProfileRow,
} from './rows.ts';

export interface LoadBalancerTables {
  readonly loadBalancers: Table<LoadBalancerRow>;
  readonly listeners: Table<ListenerRow>;
  readonly pools: Table<PoolRow>;
  readonly members: Table<MemberRow>;
  readonly monitors: Table<HealthMonitorRow>;
  readonly policies: Table<L7PolicyRow>;
  readonly rules: Table<L7RuleRow>;
  readonly flavors: Table<OfferRow>;
  readonly flavorProfiles: Table<ProfileRow>;
  readonly zones: Table<OfferRow>;
  readonly zoneProfiles: Table<ProfileRow>;
}

/** Names of the tables of children. Jobs store these names. */
export type PartTable = 'listeners' | 'pools' | 'members' | 'monitors' | 'policies' | 'rules';

export function createTables(state: State): LoadBalancerTables {
  const project = (row: PartRow): string => row.project_id;
  return {
    loadBalancers: state.table<LoadBalancerRow>('loadbalancer.loadbalancers', {
      indexes: { project, name: (lb) => lb.name.toLowerCase() || undefined, port: (lb) => lb.vip_port_id },
    }),
    listeners: state.table<ListenerRow>('loadbalancer.listeners', {
      indexes: {
        project,
        loadBalancer: (listener) => listener.loadbalancer_id,
        pool: (listener) => listener.default_pool_id ?? undefined,
      },
    }),
    pools: state.table<PoolRow>('loadbalancer.pools', {
      indexes: { project, loadBalancer: (pool) => pool.loadbalancer_id },
    }),
    members: state.table<MemberRow>('loadbalancer.members', {
      indexes: {
        project,
        pool: (member) => member.pool_id,
        address: (member) => member.address,
        endpoint: (member) => endpointKey(member.pool_id, member.address, member.protocol_port),
      },
    }),
    monitors: state.table<HealthMonitorRow>('loadbalancer.monitors', {
      indexes: { project, pool: (monitor) => monitor.pool_id },
    }),
    policies: state.table<L7PolicyRow>('loadbalancer.l7policies', {
      indexes: {
        project,
        listener: (policy) => policy.listener_id,
        pool: (policy) => policy.redirect_pool_id ?? undefined,
      },
    }),
    rules: state.table<L7RuleRow>('loadbalancer.l7rules', {
      indexes: { project, policy: (rule) => rule.l7policy_id },
    }),
    flavors: state.table<OfferRow>('loadbalancer.flavors', { indexes: { profile: (offer) => offer.profile_id } }),
    flavorProfiles: state.table<ProfileRow>('loadbalancer.flavorprofiles'),
    zones: state.table<OfferRow>('loadbalancer.availabilityzones', {
      indexes: { profile: (offer) => offer.profile_id },
    }),
    zoneProfiles: state.table<ProfileRow>('loadbalancer.availabilityzoneprofiles'),
  };
}

export function endpointKey(poolId: string, address: string, port: number): string {
  return `${poolId} ${address} ${port}`;
}
