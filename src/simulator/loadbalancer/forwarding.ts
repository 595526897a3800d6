import { must } from '../../machinery/index.ts';
import type { Forwarding, ForwardTarget, Landing, Origin } from '../core/contracts.ts';
import { contains, knownCidr } from '../network/addressing/cidr.ts';
import { parseIp } from '../network/addressing/ip.ts';
import type { Octavia } from './octavia.ts';
import type { ListenerRow, LoadBalancerRow, MemberRow, PartRow } from './rows.ts';
import { transportOf } from './vip.ts';

/** An object being updated keeps working as before. An object being created, or in ERROR, does not work. */
function isServing({ admin_state_up, provisioning_status }: Readonly<PartRow>): boolean {
  return admin_state_up && (provisioning_status === 'ACTIVE' || provisioning_status === 'PENDING_UPDATE');
}

/** Forwards connections like the amphora: by listener, allowed sources, pool and health. */
export class Forwarder {
  readonly #octavia: Octavia;
  /** round-robin position by pool; not persisted, so a restart begins with the first member */
  readonly #turns = new Map<string, number>();

  constructor(octavia: Octavia) {
    this.#octavia = octavia;
  }

  forward(vipPortId: string, tcpPort: number, source: string): Forwarding | undefined {
    const lb = this.#octavia.loadBalancers.first('port', vipPortId);
    if (!lb) return undefined;
    const listener = isServing(lb) ? this.#listener(lb, tcpPort) : undefined;
    if (!listener) return { kind: 'closed' };
    if (!letsIn(listener, source)) return { kind: 'filtered' };
    return { kind: 'members', targets: this.#targets(lb, listener) };
  }

  listeningPorts(vipPortId: string): readonly number[] {
    const lb = this.#octavia.loadBalancers.first('port', vipPortId);
    if (!lb || !isServing(lb)) return [];
    const found: number[] = [];
    for (const listener of this.#octavia.listeners.by('loadBalancer', lb.id)) {
      if (isServing(listener) && transportOf(listener) === 'tcp') found.push(listener.protocol_port);
    }
    return found;
  }

  #listener(lb: Readonly<LoadBalancerRow>, tcpPort: number): Readonly<ListenerRow> | undefined {
    for (const listener of this.#octavia.listeners.by('loadBalancer', lb.id)) {
      if (listener.protocol_port !== tcpPort || transportOf(listener) !== 'tcp') continue;
      if (isServing(listener)) return listener;
    }
    return undefined;
  }

  #targets(lb: Readonly<LoadBalancerRow>, { default_pool_id }: Readonly<ListenerRow>): ForwardTarget[] {
    const { pools, members, monitors } = this.#octavia;
    const pool = default_pool_id === null ? undefined : pools.get(default_pool_id);
    if (!pool || !isServing(pool)) return [];
    const isMonitored = monitors.count('pool', pool.id) > 0;
    const usable = [...members.by('pool', pool.id)].filter(
      (member) => isServing(member) && member.weight > 0 && (!isMonitored || member.operating_status === 'ONLINE'),
    );
    const first = usable.filter(({ backup }) => !backup);
    const ready = first.length > 0 ? first : usable;
    const turn = this.#turns.get(pool.id) ?? 0;
    if (ready.length > 1) this.#turns.set(pool.id, (turn + 1) % ready.length);
    const targets: ForwardTarget[] = [];
    for (let i = 0; i < ready.length; i++) {
      const member = must(ready[(turn + i) % ready.length], 'ready[(turn + i) % ready.length]');
      const landing = landingOf(this.#octavia, lb, member);
      if (landing)
        targets.push({ landing, tcpPort: member.protocol_port, origin: originFor(this.#octavia, lb, member) });
    }
    return targets;
  }
}

/** Finds the port of a member: in its subnet, else wherever the load balancer's own port can reach it. */
export function landingOf(
  { core }: Octavia,
  lb: Readonly<LoadBalancerRow>,
  { subnet_id, address }: Readonly<MemberRow>,
): Landing | undefined {
  const { reach } = core.services.network;
  const inOwnSubnet = reach.inSubnet(subnet_id ?? lb.vip_subnet_id, address);
  return inOwnSubnet ?? reach.fromPort(lb.vip_port_id, address)?.landing;
}

/** The amphora has an interface in the member's subnet. Only the member sees its address there. */
export function originFor(
  { core }: Octavia,
  lb: Readonly<LoadBalancerRow>,
  { subnet_id }: Readonly<MemberRow>,
): Origin {
  if (subnet_id === null || subnet_id === lb.vip_subnet_id) return { address: lb.vip_address, portId: lb.vip_port_id };
  const cidr = core.services.network.subnet(subnet_id)?.cidr;
  return { address: cidr?.slice(0, cidr.indexOf('/')) ?? lb.vip_address };
}

function letsIn({ allowed_cidrs }: Readonly<ListenerRow>, source: string): boolean {
  if (allowed_cidrs === null || allowed_cidrs.length === 0) return true;
  const ip = parseIp(source);
  return ip !== undefined && allowed_cidrs.some((cidr) => contains(knownCidr(cidr), ip));
}
