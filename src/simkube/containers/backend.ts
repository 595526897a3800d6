import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Random } from '../../machinery/index.ts';
import type { SimulatedProgram } from '../process.ts';
import type { PortService } from '../types.ts';
import { type AddressPool, createAddressPool } from './address-pool.ts';
import { diskTree, type FileTree, memoryTree } from './file-tree.ts';
import { type SandboxParts, SimulatedSandbox } from './sandbox.ts';
import { type PodTimings, podTimings } from './timings.ts';
import type { HostNetwork, PodBackend, PodIdentity, PodSandbox } from './types.ts';

/** What an image does with a command line; undefined: nothing in particular, it just stays up. */
export type ProgramChooser = (image: string, argv: readonly string[]) => SimulatedProgram | undefined;

export interface SimulatedBackendOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: HostNetwork;
  readonly programs: ProgramChooser;
  /** where directories are kept; absent: in memory */
  readonly directory?: string;
  /** of Pods that share the network of the node */
  readonly nodeAddress: string;
  /** of Pods with a network of their own; default: of 10.244.0.0/16 */
  readonly podAddresses?: AddressPool;
  /** the files of the node itself, below a path of it; absent: Pods that name the same path share some */
  readonly hostTree?: (path: string) => FileTree;
  /** as container runtimes call themselves, NAME://VERSION */
  readonly name?: string;
  readonly timings?: Partial<PodTimings>;
  /** content of files that are gone for good, so that what they stood for can go too */
  readonly filesRemoved?: (contents: Iterable<string>) => void;
}

/** Runs Pods as programs of this process. */
export function createSimulatedBackend(options: SimulatedBackendOptions): PodBackend {
  const { clock, random, network, programs, directory, filesRemoved = () => {} } = options;
  const addresses = options.podAddresses ?? createAddressPool('10.244.0.0');
  const nodePorts = new Map<number, PortService>();
  const pulled = new Set<string>();
  const sandboxes = new Set<PodSandbox>();
  const trees = new Map<string, FileTree>();

  const place = (name: string): string => join(directory ?? '', encodeURIComponent(name));
  const treeOf = (name: string): FileTree => {
    if (name.startsWith('host/') && options.hostTree) return options.hostTree(name.slice('host'.length));
    return directory === undefined ? memoryTree() : diskTree(place(name));
  };
  const tree = (name: string): FileTree => {
    let found = trees.get(name);
    if (!found) {
      found = treeOf(name);
      trees.set(name, found);
    }
    return found;
  };
  const parts: SandboxParts = {
    clock,
    random,
    timings: { ...podTimings, ...options.timings },
    network,
    programs,
    tree,
    filesRemoved,
  };

  return {
    name: options.name ?? 'simulated://1.0',
    async createSandbox(identity: PodIdentity) {
      const { hostNetwork } = identity;
      const address = hostNetwork ? options.nodeAddress : addresses.take(identity.address);
      const sandbox = new SimulatedSandbox({
        identity,
        address,
        parts,
        ports: hostNetwork ? nodePorts : new Map(),
        pulled,
        onRemove() {
          sandboxes.delete(sandbox);
          if (!hostNetwork) addresses.giveBack(address);
        },
      });
      sandboxes.add(sandbox);
      return sandbox;
    },
    async createDirectory(name) {
      tree(name);
      return name;
    },
    async removeDirectory(name) {
      const removed = tree(name);
      filesRemoved([...removed.paths()].map((path) => removed.read(path) ?? ''));
      for (const path of [...removed.paths()]) removed.remove(path);
      trees.delete(name);
      if (directory !== undefined) rmSync(place(name), { recursive: true, force: true });
    },
    async close() {
      await Promise.all([...sandboxes].map((sandbox) => sandbox.remove()));
    },
  };
}
