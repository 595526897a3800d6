import type { PortService } from '../../../simkube/index.ts';
import type { Landing, Origin } from '../../core/contracts.ts';
import type { Core } from '../../core/core.ts';
import type { RunningMachine, SimulatedNetwork } from '../types.ts';
import type { Listeners } from './listeners.ts';
import { UnreachableError } from './unreachable.ts';

/** Who callers outside of the cloud are: everybody on this machine. */
export const outsideAddress = '127.0.0.1';

const ownNames: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** The simulated network, with the ways in that others need to look at besides dialling. */
export interface MachineNetwork extends SimulatedNetwork {
  /** the same as `dial` for a caller outside who has this address */
  dialFrom(source: string, address: string, port: number): PortService;
  /** whether something answers at a machine's port and its security groups let the origin in */
  answers(landing: Landing, port: number, origin: Origin): boolean;
}

/**
 * What lies beyond the cloud, by name or address. Undefined: nothing of that name or address is known. Throws an error with
 * a `code` when it is known and does not answer.
 */
export type Outside = (host: string, port: number) => PortService | undefined;

export interface NetworkParts {
  readonly core: Pick<Core, 'services'>;
  readonly listeners: Listeners;
  /** the running machine's own ports, by server */
  portsOf(serverId: string): readonly string[];
  /** absent: there is nothing beyond the cloud */
  readonly outside?: Outside;
}

/** Leads from addresses to what answers there, as the cloud's networks, routers, groups and load balancers have it. */
export function createNetwork({ core, listeners, portsOf, outside }: NetworkParts): MachineNetwork {
  /** What a connection meets at a port; a code when it meets nothing. */
  const arrive = (landing: Landing, port: number, origin: Origin): PortService | 'ECONNREFUSED' | 'ETIMEDOUT' => {
    const { reach } = core.services.network;
    let outcome: 'ECONNREFUSED' | 'ETIMEDOUT' = 'ETIMEDOUT';
    for (const portId of landing.holders ?? [landing.portId]) {
      const serverId = reach.serverOf(portId);
      if (serverId === undefined) continue;
      // What a security group drops is never answered; whose machine is off neither.
      if (!reach.admits(portId, port, origin)) continue;
      const service = listeners.get(serverId, port);
      if (service) return service;
      if (portsOf(serverId).length > 0) outcome = 'ECONNREFUSED';
    }
    return outcome;
  };

  const land = (landing: Landing, port: number, origin: Origin, address: string): PortService => {
    const forwarding = core.services.loadBalancer.forward(landing.portId, port, origin.address);
    if (!forwarding) {
      const met = arrive(landing, port, origin);
      if (typeof met === 'string') throw new UnreachableError(met, address, port);
      return met;
    }
    if (forwarding.kind === 'closed') throw new UnreachableError('ECONNREFUSED', address, port);
    if (forwarding.kind === 'filtered') throw new UnreachableError('ETIMEDOUT', address, port);
    for (const target of forwarding.targets) {
      const met = arrive(target.landing, target.tcpPort, target.origin);
      if (typeof met !== 'string') return met;
    }
    // The balancer takes the connection and has nobody to give it to.
    throw new UnreachableError('ECONNRESET', address, port);
  };

  const dialFrom = (source: string, address: string, port: number): PortService => {
    const landing = core.services.network.reach.fromOutside(address);
    if (landing) return land(landing, port, { address: source }, address);
    const beyond = outside?.(address, port);
    if (!beyond) throw new UnreachableError('EHOSTUNREACH', address, port);
    return beyond;
  };

  /** Out of the cloud from a machine, when one of its networks leads there and its security groups let it. */
  const dialBeyond = (host: string, port: number, serverId: string): PortService | undefined => {
    const { reach } = core.services.network;
    const exits = outside ? portsOf(serverId).filter((portId) => reach.leadsOut(portId)) : [];
    if (!outside || exits.length === 0) return undefined;
    if (!exits.some((portId) => reach.letsOut(portId, port, { address: host }))) {
      throw new UnreachableError('ETIMEDOUT', host, port);
    }
    return outside(host, port);
  };

  const dialAsMachine = (name: string, port: number, from: RunningMachine): PortService => {
    const { id } = from.server;
    const address = named(name, from);
    if (address === undefined) {
      const beyond = dialBeyond(name, port, id);
      if (!beyond) throw new UnreachableError('ENOTFOUND', name, port);
      return beyond;
    }
    if (ownNames.has(address) || from.addresses.includes(address)) {
      const own = listeners.get(id, port);
      if (own) return own;
      throw new UnreachableError('ECONNREFUSED', address, port);
    }
    const { reach } = core.services.network;
    for (const portId of portsOf(id)) {
      const way = reach.fromPort(portId, address);
      if (!way) continue;
      const isDirect = way.origin.portId !== undefined;
      const far = { address, ...(isDirect && { portId: way.landing.portId }) };
      if (!reach.letsOut(portId, port, far)) throw new UnreachableError('ETIMEDOUT', address, port);
      return land(way.landing, port, way.origin, address);
    }
    const beyond = dialBeyond(address, port, id);
    if (!beyond) throw new UnreachableError('EHOSTUNREACH', address, port);
    return beyond;
  };

  return {
    dial: (address, port, from) =>
      from ? dialAsMachine(address, port, from) : dialFrom(outsideAddress, address, port),
    dialFrom,
    answers: (landing, port, origin) => typeof arrive(landing, port, origin) !== 'string',
  };
}

/** An address as it is, a name as the machine's hosts file has it. */
function named(name: string, { disk, hostname }: RunningMachine): string | undefined {
  if (/^[\d.]+$/.test(name) || name.includes(':') || name === 'localhost') return name;
  if (name === hostname) return '127.0.0.1';
  for (const line of (disk.read('/etc/hosts') ?? '').split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address && names.includes(name)) return address;
  }
  return undefined;
}
