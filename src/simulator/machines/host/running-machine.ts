import { sleep } from '../../../machinery/index.ts';
import type { PortService } from '../../../simkube/index.ts';
import type { Console, Machine } from '../../core/contracts.ts';
import type { Core } from '../../core/core.ts';
import type { Listeners } from '../network/listeners.ts';
import type { RunningMachine, SimulatedNetwork } from '../types.ts';
import { type MachineDisk, openDisk } from './disk.ts';

/** A running machine, for its host. */
export interface HostedMachine extends RunningMachine {
  readonly disk: MachineDisk;
  readonly network: SimulatedNetwork;
  /** its console, unaffected by `whileWriting` */
  readonly screen: Console;
  /** Redirects the output on `console` while a program runs. */
  whileWriting<R>(out: (text: string) => void, work: () => Promise<R>): Promise<R>;
  /** milliseconds since power-on */
  uptime(): number;
  /** Changes the host name permanently. */
  rename(hostname: string): void;
  /** Replaces its ports. */
  replaceInterfaces(server: Machine): void;
  /** Stops everything on it. */
  switchOff(reason: string): void;
}

export interface MachineParts {
  readonly core: Core;
  readonly network: SimulatedNetwork;
  readonly listeners: Listeners;
}

/** Switches a machine on without running anything yet. */
export function createRunningMachine(parts: MachineParts, machine: Machine, out: Console): HostedMachine {
  const { core, network, listeners } = parts;
  const { clock, random, timings } = core;
  const power = new AbortController();
  const { signal } = power;
  const startedAt = clock.now();
  const disk = openDisk(core.services.compute.disks, machine.id);
  const screen = gatheringConsole(out, signal);
  // All programs share one machine object, so the machine tracks the redirection of their output.
  const outputs: ((text: string) => void)[] = [];
  let server = machine;
  let addresses = addressesOf(server);
  let hostname = disk.read('/etc/hostname')?.trim() || (machine.hostname ?? hostnameOf(machine.name));
  return {
    get server() {
      return server;
    },
    get hostname() {
      return hostname;
    },
    rename(changed) {
      hostname = changed;
      disk.write('/etc/hostname', `${changed}\n`);
    },
    clock,
    random,
    timings,
    disk,
    console: {
      write(text) {
        const output = outputs.at(-1);
        if (output) output(text);
        else screen.write(text);
      },
    },
    screen,
    async whileWriting(output, work) {
      outputs.push(output);
      try {
        return await work();
      } finally {
        outputs.splice(outputs.indexOf(output), 1);
      }
    },
    network,
    get addresses() {
      return addresses;
    },
    signal,
    uptime: () => clock.now() - startedAt,
    listen(port: number, service: PortService) {
      // A service that starts during power-off must not listen.
      if (signal.aborted) return () => {};
      return listeners.add(machine.id, port, service);
    },
    pass: (ms) => sleep(clock, ms, signal),
    replaceInterfaces(changed) {
      server = changed;
      addresses = addressesOf(changed);
    },
    switchOff(reason) {
      power.abort(new MachineOff(machine.id, reason));
      listeners.clear(machine.id);
    },
  };
}

/** Reason why the programs of a machine stopped. */
export class MachineOff extends Error {
  constructor(serverId: string, reason: string) {
    super(`machine ${serverId} was switched off: ${reason}`);
    this.name = 'MachineOff';
  }
}

/** Derives a host name from the server's name like nova. */
export function hostnameOf(name: string): string {
  const host = name
    .replace(/[ _]/g, '-')
    .replace(/[^\w.-]+/g, '')
    .toLowerCase()
    .replace(/^[.-]+|[.-]+$/g, '');
  return host.slice(0, 63) || 'server';
}

function addressesOf({ interfaces }: Machine): readonly string[] {
  return interfaces.flatMap(({ fixedIps }) => fixedIps.map(({ address }) => address));
}

/** Each write to a console is a transaction of the cloud, so writes of the same tick are batched. */
function gatheringConsole(out: Console, signal: AbortSignal): Console {
  let pending = '';
  const flush = (): void => {
    const text = pending;
    pending = '';
    if (text !== '') out.write(text);
  };
  signal.addEventListener('abort', flush, { once: true });
  return {
    write(text) {
      if (signal.aborted || text === '') return;
      if (pending === '') queueMicrotask(flush);
      pending += text;
    },
  };
}
