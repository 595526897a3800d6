import type { Clock, Random } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { PortService, SimulatedKubernetesOptions } from '../../simkube/index.ts';
import type { Console, Machine } from '../core/contracts.ts';
import type { Timings } from '../core/timings.ts';

// What a simulated machine is made of, and where its parts meet: the boot sequence runs programs, programs serve ports,
// the network leads from addresses to ports.

/** The files of a machine. They survive a reboot, and the end of the program when the cloud is kept. */
export interface Disk {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths that begin with the prefix, sorted */
  list(prefix: string): string[];
}

/** Ways through the simulated network. */
export interface SimulatedNetwork {
  /**
   * What a connection to this address meets: a floating address, the address of a load balancer, or, seen from a machine,
   * a fixed address of its networks. Throws an error with a `code` such as ECONNREFUSED or ETIMEDOUT when nothing answers,
   * nobody listens, no member is healthy or no security group lets it in.
   */
  dial(address: string, port: number, from?: RunningMachine): PortService;
}

/** A machine while it is switched on. */
export interface RunningMachine {
  readonly server: Machine;
  readonly hostname: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: Timings;
  readonly disk: Disk;
  readonly console: Console;
  readonly network: SimulatedNetwork;
  /** fixed addresses of its ports, the first one is where the kubelet listens */
  readonly addresses: readonly string[];
  /** aborted when it is switched off: everything on it ends there and then */
  readonly signal: AbortSignal;
  /** Serves a port on all its addresses until it is switched off. Answers how to stop earlier. */
  listen(port: number, service: PortService): () => void;
  /** waits on the machine's clock; rejects when the machine is switched off */
  pass(ms: number): Promise<void>;
}

/** What a program has of whoever started it. */
export interface ProgramCaller {
  readonly env: Readonly<Record<string, string>>;
  /** what it may read */
  readonly input: string;
}

/** A program of a machine: what a command line starts. Resolves with its exit code; what it says goes to the console. */
export type Program = (machine: RunningMachine, args: readonly string[], caller?: ProgramCaller) => Promise<number>;

/** Something systemd starts at every boot, the first time after cloud-init. */
export interface BootService {
  readonly name: string;
  /** whether it is installed and enabled on this machine */
  enabled(disk: Disk): boolean;
  /** starts it; it runs until the machine's signal aborts */
  start(machine: RunningMachine): void;
}

/** What the software of machines is built on: the cloud's own. */
export interface SoftwareBase {
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: Timings;
  /** where it may keep things of its own; absent: in memory */
  readonly directory?: string;
  /** whether connections over real sockets come in */
  readonly sockets: boolean;
  readonly log: Logger;
  /** how what runs on them reaches the cloud itself */
  readonly cloudTransport: CloudTransport;
  /** programs of images that only whoever builds the cloud knows */
  readonly programs?: NonNullable<SimulatedKubernetesOptions['programs']>;
}

/** Carries requests of programs on machines to the cloud whose credentials they have. */
export type CloudTransport = NonNullable<SimulatedKubernetesOptions['cloudTransport']>;

/** What a machine image has installed. */
export interface Software {
  readonly programs: Readonly<Record<string, Program>>;
  readonly services: readonly BootService[];
  /** whether one of the programs is on a machine; absent: all are */
  has?(machine: RunningMachine, program: string): boolean;
  /** what a package brings, where the software knows it: `unknown` when no repository of the machine has it */
  packaged?(
    machine: RunningMachine,
    name: string,
  ): { readonly path: string; readonly content: string } | 'unknown' | undefined;
  /** what a machine gets when it loads something from the outside world; undefined: there is nothing of that name */
  download?(url: URL): string | undefined;
  /** the server is gone for good */
  forget(serverId: string): void;
  /** ends everything that runs, for when the cloud is closed */
  close(): Promise<void>;
}
