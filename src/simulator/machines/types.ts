import type { Clock, Random } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { PortService, SimulatedKubernetesOptions } from '../../simkube/index.ts';
import type { Console, Machine } from '../core/contracts.ts';
import type { Timings } from '../core/timings.ts';

// Interfaces of a simulated machine: the boot sequence runs programs, programs serve ports, the network routes
// addresses to ports.

/** Files of a machine. They survive a reboot, and the end of the process if the cloud is persisted. */
export interface Disk {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths with the prefix, sorted */
  list(prefix: string): string[];
}

/** Connections through the simulated network. */
export interface SimulatedNetwork {
  /**
   * Returns the service at an address: a floating IP, a load balancer, or, from a machine, a fixed address of its
   * networks. Throws an error with a `code` such as ECONNREFUSED or ETIMEDOUT if nothing listens, no member is healthy,
   * or security groups drop the connection.
   */
  dial(address: string, port: number, from?: RunningMachine): PortService;
}

/** A running machine. */
export interface RunningMachine {
  readonly server: Machine;
  readonly hostname: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: Timings;
  readonly disk: Disk;
  readonly console: Console;
  readonly network: SimulatedNetwork;
  /** fixed addresses of its ports; the kubelet listens on the first */
  readonly addresses: readonly string[];
  /** aborted at power-off, which stops everything on the machine */
  readonly signal: AbortSignal;
  /** Serves a port on all addresses until power-off. Returns a function to stop earlier. */
  listen(port: number, service: PortService): () => void;
  /** waits on the machine's clock; rejects at power-off */
  pass(ms: number): Promise<void>;
}

/** What a program gets from its caller. */
export interface ProgramCaller {
  readonly env: Readonly<Record<string, string>>;
  /** standard input */
  readonly input: string;
}

/** A program of a machine. Resolves with its exit code and writes to the console. */
export type Program = (machine: RunningMachine, args: readonly string[], caller?: ProgramCaller) => Promise<number>;

/** A service that systemd starts at every boot. On the first boot it starts after cloud-init. */
export interface BootService {
  readonly name: string;
  /** whether it is installed and enabled on the machine */
  enabled(disk: Disk): boolean;
  /** starts the service, which runs until the machine's signal aborts */
  start(machine: RunningMachine): void;
}

/** Parts of the cloud that the software of machines uses. */
export interface SoftwareBase {
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: Timings;
  /** directory for persistent data; default: in memory */
  readonly directory?: string;
  /** whether real sockets accept connections */
  readonly sockets: boolean;
  readonly log: Logger;
  /** how programs on machines reach the cloud itself */
  readonly cloudTransport: CloudTransport;
  /** additional programs of container images */
  readonly programs?: NonNullable<SimulatedKubernetesOptions['programs']>;
}

/** Sends requests of programs on machines to the cloud of their credentials. */
export type CloudTransport = NonNullable<SimulatedKubernetesOptions['cloudTransport']>;

/** Installed software of a machine image. */
export interface Software {
  readonly programs: Readonly<Record<string, Program>>;
  readonly services: readonly BootService[];
  /** whether a machine has a program; default: it has all of them */
  has?(machine: RunningMachine, program: string): boolean;
  /** contents of a known package; `unknown` if no repository of the machine has it */
  packaged?(
    machine: RunningMachine,
    name: string,
  ): { readonly path: string; readonly content: string } | 'unknown' | undefined;
  /** content of a download from outside; undefined if it does not exist */
  download?(url: URL): string | undefined;
  /** the server was deleted */
  forget(serverId: string): void;
  /** stops everything when the cloud is closed */
  close(): Promise<void>;
}
