import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '../../../runtime/index.ts';
import type { Core } from '../../core/core.ts';
import { type MachineNetwork, outsideAddress } from './dial.ts';
import type { Listeners } from './listeners.ts';
import type { Touched } from './topology-watch.ts';

export interface SocketsOptions {
  readonly core: Core;
  readonly network: MachineNetwork;
  readonly listeners: Listeners;
  readonly log: Logger;
  /** Writes a line on the console of a running machine. */
  tell(serverId: string, line: string): void;
}

interface OpenSocket {
  readonly server: Server;
  readonly connections: Set<Socket>;
}

/** Delay before a taken address is tried again. */
const retryMs = 2_000;
/** Loopback addresses, which need no configuration. */
const loopback = /^127\.\d+\.\d+\.\d+$/;

/**
 * Real sockets for the loopback addresses of the simulated external network. A socket is open exactly while a
 * connection would succeed.
 */
export class Sockets {
  readonly #core: Core;
  readonly #network: MachineNetwork;
  readonly #listeners: Listeners;
  readonly #log: Logger;
  readonly #tell: SocketsOptions['tell'];
  readonly #open = new Map<string, Map<number, OpenSocket>>();
  readonly #underWay = new Set<Promise<void>>();
  /** ports with a reported, unresolved problem, by address */
  readonly #faulty = new Map<string, Set<number>>();
  #isBindable = true;
  #isClosed = false;

  constructor({ core, network, listeners, log, tell }: SocketsOptions) {
    this.#core = core;
    this.#network = network;
    this.#listeners = listeners;
    this.#log = log;
    this.#tell = tell;
  }

  /** Updates every address the change may affect. */
  refresh({ ports, addresses }: Touched): void {
    if (this.#isClosed) return;
    const { network, loadBalancer } = this.#core.services;
    const due = new Set(addresses);
    for (const portId of ports) {
      for (const address of network.reach.outsideAddresses(portId)) due.add(address);
      for (const vipPort of loadBalancer.balancersOf(portId)) {
        for (const address of network.reach.outsideAddresses(vipPort)) due.add(address);
      }
    }
    for (const address of due) if (loopback.test(address)) this.#settle(address);
  }

  /** resolves once nothing is being opened or closed */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [address, open] of this.#open) for (const port of open.keys()) this.#shut(address, port);
    await this.settled();
  }

  #settle(address: string): void {
    const wanted = this.#wantedPorts(address);
    for (const port of this.#faulty.get(address) ?? []) if (!wanted.has(port)) this.#healthy(address, port);
    for (const port of this.#open.get(address)?.keys() ?? []) if (!wanted.has(port)) this.#shut(address, port);
    for (const port of wanted) if (!this.#open.get(address)?.has(port)) this.#listen(address, port);
  }

  #wantedPorts(address: string): Set<number> {
    const { network, loadBalancer } = this.#core.services;
    const wanted = new Set<number>();
    const landing = network.reach.fromOutside(address);
    if (!landing) return wanted;
    const candidates = new Set(loadBalancer.listeningPorts(landing.portId));
    for (const portId of landing.holders ?? [landing.portId]) {
      const serverId = network.reach.serverOf(portId);
      if (serverId !== undefined) for (const port of this.#listeners.ports(serverId)) candidates.add(port);
    }
    for (const port of candidates) if (this.#answers(address, port)) wanted.add(port);
    return wanted;
  }

  #answers(address: string, port: number): boolean {
    try {
      this.#network.dialFrom(outsideAddress, address, port);
      return true;
    } catch {
      return false;
    }
  }

  #listen(address: string, port: number): void {
    const connections = new Set<Socket>();
    const server = createServer((socket) => this.#accept(socket, connections, address, port));
    let ports = this.#open.get(address);
    if (!ports) {
      ports = new Map();
      this.#open.set(address, ports);
    }
    ports.set(port, { server, connections });
    this.#track(
      new Promise((resolve) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          this.#forget(address, port, server);
          this.#complain(error, address, port);
          if (error.code === 'EADDRINUSE') this.#tryAgain(address);
          resolve();
        });
        server.listen({ host: address, port, exclusive: true }, () => {
          if (this.#healthy(address, port)) this.#relieve(address, port);
          resolve();
        });
      }),
    );
  }

  /** Tries again later, because the program that holds the address may exit. */
  #tryAgain(address: string): void {
    this.#core.clock.after(retryMs, () => {
      if (!this.#isClosed) this.#settle(address);
    });
  }

  #accept(socket: Socket, connections: Set<Socket>, address: string, port: number): void {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    // Peers may disconnect at any time, so this is not logged.
    socket.on('error', () => socket.destroy());
    socket.setNoDelay(true);
    try {
      this.#network.dialFrom(socket.remoteAddress ?? outsideAddress, address, port).accept(socket);
    } catch {
      socket.destroy();
    }
  }

  #shut(address: string, port: number): void {
    const open = this.#open.get(address)?.get(port);
    if (!open) return;
    this.#forget(address, port, open.server);
    this.#track(new Promise((resolve) => open.server.close(() => resolve())));
    for (const connection of open.connections) connection.destroy();
  }

  #forget(address: string, port: number, server: Server): void {
    const ports = this.#open.get(address);
    if (ports?.get(port)?.server !== server) return;
    ports.delete(port);
    if (ports.size === 0) this.#open.delete(address);
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  #complain({ code, message }: NodeJS.ErrnoException, address: string, port: number): void {
    if (code === 'EADDRNOTAVAIL') {
      if (!this.#isBindable) return;
      this.#isBindable = false;
      this.#log.warn('Addresses of the simulated cloud cannot be reached over sockets on this system', {
        address,
        cure: 'give the loopback interface the address, on macOS: sudo ifconfig lo0 alias ADDRESS',
      });
      return;
    }
    // A repeated failure is not logged again.
    const ports = this.#faulty.get(address) ?? new Set();
    this.#faulty.set(address, ports);
    if (ports.has(port)) return;
    ports.add(port);
    this.#log.warn('An address of the simulated cloud cannot be listened on', { address, port, code, error: message });
    const reason = code === 'EADDRINUSE' ? 'another program of this computer listens there' : message;
    this.#reportServers(address, port, `${address}:${port} cannot be reached from outside of the cloud: ${reason}`);
  }

  #relieve(address: string, port: number): void {
    this.#log.info('An address of the simulated cloud can be listened on again', { address, port });
    this.#reportServers(address, port, `${address}:${port} can be reached from outside of the cloud again`);
  }

  /** Clears a reported problem. Returns whether there was one. */
  #healthy(address: string, port: number): boolean {
    const ports = this.#faulty.get(address);
    if (!ports?.delete(port)) return false;
    if (ports.size === 0) this.#faulty.delete(address);
    return true;
  }

  /** Writes to the consoles of the machines behind an address, all of them for a load balancer. */
  #reportServers(address: string, port: number, line: string): void {
    const { network, loadBalancer } = this.#core.services;
    const landing = network.reach.fromOutside(address);
    if (!landing) return;
    const forwarding = loadBalancer.forward(landing.portId, port, outsideAddress);
    const behind = forwarding?.kind === 'members' ? forwarding.targets.map((target) => target.landing) : [];
    const servers = new Set<string>();
    for (const { portId, holders = [portId] } of forwarding ? behind : [landing]) {
      for (const holder of holders) {
        const serverId = network.reach.serverOf(holder);
        if (serverId !== undefined) servers.add(serverId);
      }
    }
    for (const serverId of servers) this.#tell(serverId, line);
  }
}
