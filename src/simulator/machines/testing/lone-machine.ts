import { ManualClock, seededRandom, sleep } from '../../../machinery/index.ts';
import type { DiskStore, Machine } from '../../core/contracts.ts';
import { Timings } from '../../core/timings.ts';
import { bootTimings } from '../boot/boot-timings.ts';
import { openDisk } from '../host/disk.ts';
import type { HostedMachine } from '../host/running-machine.ts';
import { UnreachableError } from '../network/unreachable.ts';

export interface LoneMachine extends HostedMachine {
  readonly clock: ManualClock;
  /** returns its whole console output */
  readonly written: () => string;
}

/** Builds disks in memory. */
export function memoryDisks(): DiskStore {
  const files = new Map<string, Map<string, { content: string; mode: number }>>();
  const of = (id: string): Map<string, { content: string; mode: number }> => {
    const found = files.get(id) ?? new Map();
    files.set(id, found);
    return found;
  };
  return {
    file: (id, path) => of(id).get(path),
    put: (id, path, content, mode) => void of(id).set(path, { content, mode }),
    remove: (id, path) => void of(id).delete(path),
    paths: (id) => [...of(id).keys()],
    wipe: (id) => void files.delete(id),
  };
}

/** Creates a machine without a cloud, on its own clock. */
export function loneMachine(server: Partial<Machine> = {}): LoneMachine {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const timings = new Timings(random);
  timings.declare(bootTimings);
  const power = new AbortController();
  const written: string[] = [];
  let hostname = server.name ?? 'node-1';
  let output: ((text: string) => void) | undefined;
  const machine: Machine = {
    id: '5d3b5a6e-0c4f-4c1a-9d2e-0123456789ab',
    name: 'node-1',
    projectId: 'p',
    userId: 'u',
    availabilityZone: 'nova',
    host: 'host-1',
    metadata: {},
    tags: [],
    userData: undefined,
    configDrive: false,
    keyPair: undefined,
    flavor: { name: 'small', vcpus: 2, ramMiB: 2048, diskGiB: 20 },
    image: undefined,
    interfaces: [],
    ...server,
  };
  return {
    server: machine,
    get hostname() {
      return hostname;
    },
    rename: (name) => {
      hostname = name;
    },
    clock,
    random,
    timings,
    disk: openDisk(memoryDisks(), machine.id),
    console: { write: (text) => (output ?? ((line: string) => void written.push(line)))(text) },
    screen: { write: (text) => void written.push(text) },
    whileWriting: async (out, work) => {
      output = out;
      return work().finally(() => {
        output = undefined;
      });
    },
    network: {
      dial: (address, port) => {
        throw new UnreachableError('ECONNREFUSED', address, port);
      },
    },
    addresses: ['10.0.0.5'],
    signal: power.signal,
    uptime: () => 1000,
    listen: () => () => {},
    pass: (ms) => sleep(clock, ms, power.signal),
    replaceInterfaces: () => {},
    switchOff: (reason) => power.abort(new Error(reason)),
    written: () => written.join(''),
  };
}
