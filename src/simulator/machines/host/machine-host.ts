import { errorMessage } from '../../../machinery/index.ts';
import type { Logger } from '../../../runtime/index.ts';
import type { Console, Machine, MachineHost } from '../../core/contracts.ts';
import type { Core } from '../../core/core.ts';
import { bootTimings } from '../boot/boot-timings.ts';
import { serviceLine } from '../boot/console-text.ts';
import { finishedMark, interruptedMark } from '../boot/marks.ts';
import { boot } from '../boot/sequence.ts';
import { createNetwork, type MachineNetwork, type Outside } from '../network/dial.ts';
import { Listeners } from '../network/listeners.ts';
import { Sockets } from '../network/sockets.ts';
import { watchTopology } from '../network/topology-watch.ts';
import type { RunningMachine, Software } from '../types.ts';
import { createRunningMachine, type HostedMachine } from './running-machine.ts';

export interface MachineHostOptions {
  readonly core: Core;
  readonly software: Software;
  /** floating IPs and load balancers are reachable over real sockets if their addresses belong to this host */
  readonly sockets: boolean;
  readonly log: Logger;
  /** hosts outside the cloud that machines can reach */
  readonly outside?: Outside;
}

/** Boots servers: runs their user data and serves the resulting APIs. */
export interface Machines extends MachineHost {
  readonly network: MachineNetwork;
  /** the machine of a server, if it is on */
  running(serverId: string): RunningMachine | undefined;
  /** resolves once no socket is being opened or closed */
  socketsSettled(): Promise<void>;
  close(): Promise<void>;
}

export function createMachineHost(options: MachineHostOptions): Machines {
  const { core, software, sockets: wantsSockets, log, outside } = options;
  core.timings.declare(bootTimings);
  const machines = new Map<string, HostedMachine>();
  const suspended = new Set<string>();
  const portsOf = (serverId: string): readonly string[] =>
    machines.get(serverId)?.server.interfaces.map(({ id }) => id) ?? [];
  const listeners = new Listeners((serverId) => {
    const server = machines.get(serverId)?.server;
    for (const { id } of server?.interfaces ?? []) watch.portTouched(id);
  });
  const network = createNetwork({ core, listeners, portsOf, ...(outside && { outside }) });
  const tell = (serverId: string, line: string): void => {
    const machine = machines.get(serverId);
    machine?.screen.write(serviceLine(machine, 'network', line));
  };
  const sockets = wantsSockets ? new Sockets({ core, network, listeners, log, tell }) : undefined;
  const watch = watchTopology(core, (touched) => {
    const { loadBalancer } = core.services;
    for (const portId of touched.ports) loadBalancer.requeueAfter(portId);
    for (const address of touched.lost) loadBalancer.requeueAt(address);
    sockets?.refresh(touched);
  });

  const off = (serverId: string, reason: string): void => {
    const machine = machines.get(serverId);
    if (!machine) return;
    if (!machine.disk.read(finishedMark)) machine.disk.write(interruptedMark, `${reason}\n`);
    machine.switchOff(reason);
    machines.delete(serverId);
    for (const { id } of machine.server.interfaces) watch.portTouched(id);
  };

  const run = async (machine: HostedMachine, isResumed: boolean): Promise<void> => {
    try {
      await boot({ machine, software, isResumed });
    } catch (error) {
      // Pending work of a machine rejects on power-off, which is not an error.
      if (!machine.signal.aborted) {
        core.onError(error, `machine ${machine.server.name} (${machine.server.id})`);
        log.error('A simulated machine failed to boot', {
          server: machine.server.id,
          name: machine.server.name,
          error: errorMessage(error),
        });
      }
    }
  };

  return {
    network,
    running: (serverId) => machines.get(serverId),
    socketsSettled: () => sockets?.settled() ?? Promise.resolve(),
    powerOn(server: Machine, console: Console) {
      off(server.id, 'restart');
      const machine = createRunningMachine({ core, network, listeners }, server, console);
      machines.set(server.id, machine);
      const isResumed = suspended.delete(server.id);
      if (wasForsaken(machine)) {
        // The simulator stopped during the first boot. The disk is wiped so that the boot starts over.
        software.forget(server.id);
        core.services.compute.disks.wipe(server.id);
      }
      for (const { id } of server.interfaces) watch.portTouched(id);
      void run(machine, isResumed);
    },
    powerOff(serverId, reason) {
      if (reason === 'suspend') suspended.add(serverId);
      off(serverId, reason);
    },
    removed(serverId) {
      off(serverId, 'delete');
      suspended.delete(serverId);
      software.forget(serverId);
    },
    diskReplaced: (serverId) => software.forget(serverId),
    interfacesChanged(server) {
      const machine = machines.get(server.id);
      if (!machine) return;
      for (const { id } of machine.server.interfaces) watch.portTouched(id);
      machine.replaceInterfaces(server);
      for (const { id } of server.interfaces) watch.portTouched(id);
    },
    answers: (landing, port, origin) => network.answers(landing, port, origin),
    async close() {
      watch.stop();
      // Not powered off: the disks stay unchanged, and the machines continue when the cloud is opened again.
      for (const machine of machines.values()) machine.switchOff('the simulated cloud was closed');
      machines.clear();
      await sockets?.close();
      await software.close();
    },
  };
}

/** Reports whether the first boot began, did not end, and was not interrupted by anything inside the cloud. */
function wasForsaken({ disk }: HostedMachine): boolean {
  return disk.list('/').length > 0 && disk.read(finishedMark) === undefined && disk.read(interruptedMark) === undefined;
}
