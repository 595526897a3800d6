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

/** Chooses the program for an image and command line; undefined for a container that only keeps running. */
export type ProgramChooser = (image: string, argv: readonly string[]) => SimulatedProgram | undefined;

export interface SimulatedBackendOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: HostNetwork;
  readonly programs: ProgramChooser;
  /** directory for volumes; absent: memory */
  readonly directory?: string;
  /** address of Pods with host network */
  readonly nodeAddress: string;
  /** addresses of other Pods; default: 10.244.0.0/16 */
  readonly podAddresses?: AddressPool;
  /** files of the node below a path; absent: Pods that use the same path share a tree */
  readonly hostTree?: (path: string) => FileTree;
  /** in the form of container runtimes, NAME://VERSION */
  readonly name?: string;
  readonly timings?: Partial<PodTimings>;
  /** called with the content of deleted files, so that related state can be deleted too */
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
