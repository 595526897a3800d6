import { sharedSignal } from '../../../../client/index.ts';
import { type Clock, ManualClock, type Random, seededRandom, sleep } from '../../../../machinery/index.ts';
import { createAuthority } from '../../../../pki/index.ts';
import { nullLogger } from '../../../../runtime/index.ts';
import { runUntil } from '../../../../runtime/testkit/index.ts';
import type { PortService } from '../../../../simkube/index.ts';
import type { Machine } from '../../../core/contracts.ts';
import { type Timing, Timings } from '../../../core/timings.ts';
import type { CloudTransport, Disk, RunningMachine, Software } from '../../types.ts';
import { type CniRule, createKubernetesSoftware } from '../index.ts';

/** Machines without a cloud, on a flat network. Tests switch them on and off. */
export interface Lab {
  readonly clock: Clock;
  readonly software: Software;
  /** creates a machine and switches it on */
  machine(name: string, options?: MachineOptions): LabMachine;
  /** creates an address in front of machines, like a load balancer: the first listening machine answers */
  endpoint(address: string, ...machines: readonly LabMachine[]): void;
  /** returns the listener at an address; throws network errors */
  dial(address: string, port: number): PortService;
  /** advances a manual clock until the condition holds */
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  close(): Promise<void>;
}

export interface MachineOptions {
  readonly image?: string;
  readonly vcpus?: number;
  readonly address?: string;
}

export interface LabMachine {
  readonly id: string;
  readonly address: string;
  readonly disk: Disk;
  readonly running: RunningMachine;
  console(): string;
  /** runs a program to its end */
  run(program: string, ...args: string[]): Promise<number>;
  off(): void;
  /** switches it on again, which starts its services */
  on(): void;
  /** switches it off and deletes it */
  remove(): void;
}

export interface LabOptions {
  readonly clock?: Clock;
  readonly cni?: CniRule;
  readonly directory?: string;
  readonly seed?: number;
  readonly timings?: Readonly<Record<string, Timing>>;
  /** disks of an earlier lab, to simulate a restart of the cloud */
  readonly disks?: Map<string, Map<string, string>>;
  /** how Pods reach the cloud of their credentials */
  readonly cloudTransport?: CloudTransport;
  /** listener of addresses outside the lab */
  outside?(address: string, port: number): PortService;
}

export function createLab(options: LabOptions = {}): Lab {
  const clock = options.clock ?? new ManualClock();
  const random = seededRandom(options.seed ?? 11);
  const timings = new Timings(random, { ...(options.timings && { timings: options.timings }) });
  const software = createKubernetesSoftware({
    clock,
    random,
    timings,
    sockets: false,
    log: nullLogger,
    ...(options.cni && { cni: options.cni }),
    ...(options.cloudTransport && { cloudTransport: options.cloudTransport }),
    ...(options.directory !== undefined && { directory: options.directory }),
  });
  const machines = new Map<string, LabMachineState>();
  const balanced = new Map<string, readonly LabMachine[]>();
  const disks = options.disks ?? new Map<string, Map<string, string>>();

  const dial = (address: string, port: number): PortService => {
    const targets = balanced.get(address) ?? [...machines.values()].filter((machine) => machine.address === address);
    for (const { id } of targets) {
      const service = machines.get(id)?.ports.get(port);
      if (service) return service;
    }
    if (targets.length === 0 && options.outside) return options.outside(address, port);
    throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: 'ECONNREFUSED' });
  };

  const lab: Lab = {
    clock,
    software,
    machine(name, machineOptions = {}) {
      const state = new LabMachineState({
        name,
        address: machineOptions.address ?? `10.6.0.${10 + machines.size}`,
        software,
        clock,
        random,
        timings,
        dial,
        options: machineOptions,
        files: filesOf(disks, name),
        onRemove: (id) => machines.delete(id),
      });
      machines.set(state.id, state);
      state.on();
      return state;
    },
    endpoint: (address, ...targets) => void balanced.set(address, targets),
    dial,
    async until(condition, limitMs = 600_000) {
      if (!(clock instanceof ManualClock)) throw new TypeError('this lab runs on real time');
      await runUntil(clock, condition, { limitMs });
    },
    async close() {
      for (const machine of machines.values()) machine.off();
      await software.close();
    },
  };
  return lab;
}

function filesOf(disks: Map<string, Map<string, string>>, name: string): Map<string, string> {
  const files = disks.get(name) ?? new Map<string, string>();
  disks.set(name, files);
  return files;
}

interface StateOptions {
  readonly name: string;
  readonly address: string;
  readonly software: Software;
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: Timings;
  readonly options: MachineOptions;
  readonly files: Map<string, string>;
  dial(address: string, port: number): PortService;
  onRemove(id: string): void;
}

class LabMachineState implements LabMachine {
  readonly id: string;
  readonly address: string;
  readonly disk: Disk;
  readonly ports = new Map<number, PortService>();
  readonly #options: StateOptions;
  #text = '';
  #power: AbortController | undefined;
  #running: RunningMachine | undefined;

  constructor(options: StateOptions) {
    this.#options = options;
    this.id = `server-${options.name}`;
    this.address = options.address;
    const { files } = options;
    this.disk = {
      read: (path) => files.get(path),
      write: (path, content) => void files.set(path, content),
      remove: (path) => void files.delete(path),
      list: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)).sort(),
    };
  }

  get running(): RunningMachine {
    if (!this.#running) throw new Error(`${this.#options.name} is switched off`);
    return this.#running;
  }

  console(): string {
    return this.#text;
  }

  run(program: string, ...args: string[]): Promise<number> {
    return this.#options.software.programs[program]!(this.running, args);
  }

  on(): void {
    const { clock, random, timings, name, software } = this.#options;
    const power = new AbortController();
    sharedSignal(power.signal);
    this.#power = power;
    this.#running = {
      server: this.#server(),
      hostname: name,
      clock,
      random,
      timings,
      disk: this.disk,
      console: {
        write: (text) => {
          this.#text += text;
        },
      },
      network: { dial: (address, port) => this.#options.dial(address, port) },
      addresses: [this.address],
      signal: power.signal,
      listen: (port, service) => {
        this.ports.set(port, service);
        return () => {
          if (this.ports.get(port) === service) this.ports.delete(port);
        };
      },
      pass: (ms) => sleep(clock, ms, power.signal),
    };
    for (const service of software.services) if (service.enabled(this.disk)) service.start(this.#running);
  }

  off(): void {
    this.#power?.abort(new Error('the machine was switched off'));
    this.#power = undefined;
    this.#running = undefined;
    this.ports.clear();
  }

  remove(): void {
    this.off();
    this.#options.onRemove(this.id);
    this.#options.software.forget(this.id);
  }

  #server(): Machine {
    const { name, options } = this.#options;
    const image = options.image ?? 'ubuntu-2204-kube-v1.33.1';
    return {
      id: this.id,
      name,
      projectId: 'project',
      userId: 'user',
      availabilityZone: 'nova',
      host: 'host-1',
      metadata: {},
      tags: [],
      userData: undefined,
      configDrive: false,
      keyPair: undefined,
      flavor: { name: 'm1.medium', vcpus: options.vcpus ?? 2, ramMiB: 4096, diskGiB: 40 },
      image: {
        id: 'image',
        name: image,
        owner: 'project',
        status: 'active',
        visibility: 'public',
        diskFormat: 'qcow2',
        containerFormat: 'bare',
        size: 1,
        checksum: null,
        minDisk: 0,
        minRam: 0,
        properties: {},
      },
      interfaces: [],
    };
  }
}

/** Loads lazy imports first, because simulated time does not wait for files. */
export async function warmUp(): Promise<void> {
  await createAuthority({ commonName: 'warm-up', clock: new ManualClock() });
}
