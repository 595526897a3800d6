import { landingOf, originFor } from './forwarding.ts';
import type { Octavia } from './octavia.ts';
import type { LoadBalancerRow, MemberRow, PoolRow } from './rows.ts';

const job = 'loadbalancer.health';

/** A member with its load balancer. */
export interface Monitored {
  readonly member: Readonly<MemberRow>;
  readonly lb: Readonly<LoadBalancerRow>;
}

/** The monitors of pools: they notice, a while later, that a member came up or went down. */
export class Health {
  readonly #octavia: Octavia;

  constructor(octavia: Octavia) {
    this.#octavia = octavia;
    const { core } = octavia;
    // Sooner than the monitors' own delays add up to: nobody who tries a cluster wants to wait for it.
    core.timings.declare({ [job]: [500, 1_500] });
    core.jobs.define(job, (poolId) => this.#check(poolId));
    // What went on while nobody looked is seen at the next look.
    core.atReturn(() => {
      core.state.transact(() => {
        for (const { pool_id } of octavia.monitors.all()) this.scheduleCheck(pool_id);
      });
    });
  }

  /** Has a pool looked at soon; inside a transaction. */
  scheduleCheck(poolId: string): void {
    const { jobs, timings, machineHost } = this.#octavia.core;
    // Without machines every member is taken for healthy.
    if (!machineHost?.answers) return;
    if (!jobs.waiting(job, poolId)) jobs.schedule(timings.sample(job), job, poolId);
  }

  /** What a monitored member is when it comes into being or changes: unknown until somebody has looked. */
  statusOfNew(member: Readonly<MemberRow>, lb: Readonly<LoadBalancerRow>): string {
    if (!this.#octavia.core.machineHost?.answers) return 'ONLINE';
    if (this.#isUp(member, lb)) return 'ONLINE';
    this.scheduleCheck(member.pool_id);
    return member.operating_status === 'ERROR' ? 'ERROR' : 'OFFLINE';
  }

  /** Looks again at the pools with a member at a port, when what they last saw has changed; outside of transactions. */
  requeueAfter(portId: string): void {
    this.#recheck(membersAt(this.#octavia, portId));
  }

  /** The same for members at an address whose port is gone. */
  requeueAt(address: string): void {
    const { members, pools, loadBalancers } = this.#octavia;
    const found: Monitored[] = [];
    for (const member of members.by('address', address)) {
      const lb = loadBalancers.get(pools.get(member.pool_id)?.loadbalancer_id ?? '');
      if (lb) found.push({ member, lb });
    }
    this.#recheck(found);
  }

  #recheck(found: readonly Monitored[]): void {
    const { core, monitors } = this.#octavia;
    const due = new Set<string>();
    for (const { member, lb } of found) {
      if (monitors.count('pool', member.pool_id) === 0) continue;
      if ((member.operating_status === 'ONLINE') !== this.#isUp(member, lb)) due.add(member.pool_id);
    }
    if (due.size === 0) return;
    core.state.transact(() => {
      for (const poolId of due) this.scheduleCheck(poolId);
    });
  }

  #isUp(member: Readonly<MemberRow>, lb: Readonly<LoadBalancerRow>): boolean {
    const { core } = this.#octavia;
    const landing = landingOf(this.#octavia, lb, member);
    const origin = originFor(this.#octavia, lb, member);
    const port = member.monitor_port ?? member.protocol_port;
    return landing !== undefined && (core.machineHost?.answers?.(landing, port, origin) ?? true);
  }

  #check(poolId: string): void {
    const { pools, members, loadBalancers, monitors } = this.#octavia;
    const pool = pools.get(poolId);
    const lb = pool && loadBalancers.get(pool.loadbalancer_id);
    const [monitor] = monitors.by('pool', poolId);
    if (!pool || !lb || !monitor?.admin_state_up) return;
    for (const member of members.by('pool', poolId)) {
      if (!member.admin_state_up || member.provisioning_status === 'PENDING_CREATE') continue;
      const status = this.#isUp(member, lb) ? 'ONLINE' : 'ERROR';
      if (status !== member.operating_status) members.update(member.id, { operating_status: status });
    }
    this.#report(pool, lb);
  }

  /** A pool is as good as its members; as octavia's health manager has it. */
  poolStatus({ id }: Readonly<PoolRow>): string {
    let failing = 0;
    let all = 0;
    for (const { operating_status } of this.#octavia.members.by('pool', id)) {
      all++;
      if (operating_status === 'ERROR') failing++;
    }
    if (failing === 0) return 'ONLINE';
    return failing === all ? 'ERROR' : 'DEGRADED';
  }

  /** A load balancer is as good as the worst of its pools. */
  balancerStatus({ id }: Readonly<LoadBalancerRow>): string {
    let status = 'ONLINE';
    for (const { operating_status } of this.#octavia.pools.by('loadBalancer', id)) {
      if (operating_status === 'ERROR') return 'ERROR';
      if (operating_status === 'DEGRADED') status = 'DEGRADED';
    }
    return status;
  }

  #report(pool: Readonly<PoolRow>, lb: Readonly<LoadBalancerRow>): void {
    const { pools, loadBalancers } = this.#octavia;
    const status = this.poolStatus(pool);
    if (pool.admin_state_up && pool.operating_status !== status) pools.update(pool.id, { operating_status: status });
    if (!lb.admin_state_up || lb.provisioning_status === 'ERROR' || lb.provisioning_status === 'PENDING_CREATE') return;
    const whole = this.balancerStatus(lb);
    if (lb.operating_status !== whole) loadBalancers.update(lb.id, { operating_status: whole });
  }
}

/** The members whose connections arrive at a port, with their load balancers. */
export function membersAt(octavia: Octavia, portId: string): Monitored[] {
  const { core, members, pools, loadBalancers } = octavia;
  const port = core.services.network.port(portId);
  const found: Monitored[] = [];
  for (const { address } of port?.fixedIps ?? []) {
    for (const member of members.by('address', address)) {
      const pool = pools.get(member.pool_id);
      const lb = pool && loadBalancers.get(pool.loadbalancer_id);
      // The same address is somebody else's in other networks.
      if (lb && landingOf(octavia, lb, member)?.portId === portId) found.push({ member, lb });
    }
  }
  return found;
}
