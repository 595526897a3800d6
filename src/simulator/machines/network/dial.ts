import type { PortService } from '../../../simkube/index.ts';
import type { Landing, Origin } from '../../core/contracts.ts';
import type { Core } from '../../core/core.ts';
import type { RunningMachine, SimulatedNetwork } from '../types.ts';
import type { Listeners } from './listeners.ts';
import { UnreachableError } from './unreachable.ts';

/** Source address of callers outside the cloud, which all run on this host. */
export const outsideAddress = '127.0.0.1';

const ownNames: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** The simulated network with additional functions for its own use. */
export interface MachineNetwork extends SimulatedNetwork {
  /** like `dial`, for an outside caller with this source address */
  dialFrom(source: string, address: string, port: number): PortService;
  /** whether a machine's port has a listener and its security groups allow the origin */
  answers(landing: Landing, port: number, origin: Origin): boolean;
}

/**
 * Resolves hosts outside the cloud by name or address. Returns undefined for unknown hosts. Throws an error with a
 * `code` if a known host does not answer.
 */
export type Outside = (host: string, port: number) => PortService | undefined;

export interface NetworkParts {
  readonly core: Pick<Core, 'services'>;
  readonly listeners: Listeners;
  /** ports of a running machine, by server */
  portsOf(serverId: string): readonly string[];
  /** absent: no hosts outside the cloud */
  readonly outside?: Outside;
}

/**
 * Builds the network: it resolves addresses to listeners through the cloud's networks, routers, security groups and
 * load balancers.
 */
export function createNetwork({ core, listeners, portsOf, outside }: NetworkParts): MachineNetwork {
  /** Returns the listener at a port, or the error code. */
  const arrive = (landing: Landing, port: number, origin: Origin): PortService | 'ECONNREFUSED' | 'ETIMEDOUT' => {
    const { reach } = core.services.network;
    let outcome: 'ECONNREFUSED' | 'ETIMEDOUT' = 'ETIMEDOUT';
    for (const portId of landing.holders ?? [landing.portId]) {
      const serverId = reach.serverOf(portId);
      if (serverId === undefined) continue;
      // Packets that a security group drops, or for a machine that is off, time out.
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
    // The load balancer accepts the connection but has no healthy member.
    throw new UnreachableError('ECONNRESET', address, port);
  };

  const dialFrom = (source: string, address: string, port: number): PortService => {
    const landing = core.services.network.reach.fromOutside(address);
    if (landing) return land(landing, port, { address: source }, address);
    const beyond = outside?.(address, port);
    if (!beyond) throw new UnreachableError('EHOSTUNREACH', address, port);
    return beyond;
  };

  /** Dials out of the cloud, if one of the machine's networks leads out and its security groups allow it. */
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

/** Resolves a name with the machine's hosts file. Addresses are returned unchanged. */
function named(name: string, { disk, hostname }: RunningMachine): string | undefined {
  if (/^[\d.]+$/.test(name) || name.includes(':') || name === 'localhost') return name;
  if (name === hostname) return '127.0.0.1';
  for (const line of (disk.read('/etc/hosts') ?? '').split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address && names.includes(name)) return address;
  }
  return undefined;
}
