import { landingOf, originFor } from './forwarding.ts';
import type { Octavia } from './octavia.ts';
import type { LoadBalancerRow, MemberRow, PoolRow } from './rows.ts';

const job = 'loadbalancer.health';

export interface Monitored {
  readonly member: Readonly<MemberRow>;
  readonly lb: Readonly<LoadBalancerRow>;
}

/** Health monitors of pools. They detect changes of members after a delay. */
export class Health {
  readonly #octavia: Octavia;

  constructor(octavia: Octavia) {
    this.#octavia = octavia;
    const { core } = octavia;
    // Faster than the monitors' delays, so that users of a test cluster do not have to wait.
    core.timings.declare({ [job]: [500, 1_500] });
    core.jobs.define(job, (poolId) => this.#check(poolId));
    // Members may have changed while the cloud was stopped, so all pools are checked again.
    core.atReturn(() => {
      core.state.transact(() => {
        for (const { pool_id } of octavia.monitors.all()) this.scheduleCheck(pool_id);
      });
    });
  }

  /** Schedules a check of a pool. Must run inside a transaction. */
  scheduleCheck(poolId: string): void {
    const { jobs, timings, machineHost } = this.#octavia.core;
    // Without machines all members count as healthy.
    if (!machineHost?.answers) return;
    if (!jobs.waiting(job, poolId)) jobs.schedule(timings.sample(job), job, poolId);
  }

  /**
   * Returns the status of a new or changed member with a monitor. A member that is not up keeps ERROR or is OFFLINE
   * until the next check.
   */
  statusOfNew(member: Readonly<MemberRow>, lb: Readonly<LoadBalancerRow>): string {
    if (!this.#octavia.core.machineHost?.answers) return 'ONLINE';
    if (this.#isUp(member, lb)) return 'ONLINE';
    this.scheduleCheck(member.pool_id);
    return member.operating_status === 'ERROR' ? 'ERROR' : 'OFFLINE';
  }

  /** Checks the pools with a member at a port again if the result has changed. Must run outside of transactions. */
  requeueAfter(portId: string): void {
    this.#recheck(membersAt(this.#octavia, portId));
  }

  /** The same for members at an address whose port was deleted. */
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

  /** Derives the status of a pool from its members, like octavia's health manager. */
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

  /** Returns the worst status of the load balancer's pools. */
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

/** Finds the members whose connections arrive at a port, with their load balancers. */
export function membersAt(octavia: Octavia, portId: string): Monitored[] {
  const { core, members, pools, loadBalancers } = octavia;
  const port = core.services.network.port(portId);
  const found: Monitored[] = [];
  for (const { address } of port?.fixedIps ?? []) {
    for (const member of members.by('address', address)) {
      const pool = pools.get(member.pool_id);
      const lb = pool && loadBalancers.get(pool.loadbalancer_id);
      // Other networks may use the same address.
      if (lb && landingOf(octavia, lb, member)?.portId === portId) found.push({ member, lb });
    }
  }
  return found;
}
