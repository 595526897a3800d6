import type { Duplex } from 'node:stream';
import { type CloudConfig, connect, type OpenStack, type Transport } from '../../openstack/index.ts';
import { ClusterRegistry } from '../cluster/registry.ts';
import { type FileTree, memoryTree } from '../containers/file-tree.ts';
import type { ChartSource, SimulatedKubernetesOptions } from '../options.ts';
import type { SimulatedProcess } from '../process.ts';
import { ShellPace } from '../shell/limits.ts';
import type { PortService } from '../types.ts';
import { CsiSockets } from './addons/csi/driver.ts';
import { readEtcdData } from './etcd/data-directory.ts';
import { Bootstraps } from './etcd/membership.ts';

/** State shared by the programs of all Pods: stored data, and sockets inside of Pods. */
export class SimulatedKubernetes {
  readonly clusters: ClusterRegistry;
  /** etcd clusters whose first members are starting */
  readonly bootstraps: Bootstraps = new Bootstraps();
  /** divides CPU time between busy scripts of all containers */
  readonly shellPace: ShellPace = new ShellPace();
  readonly #sockets = new Map<string, PortService>();
  readonly #volumes = new Map<string, FileTree>();
  /** CSI drivers with an open socket */
  readonly csi: CsiSockets = new CsiSockets();
  /** source of charts for k0s extensions */
  readonly charts: ChartSource;
  /** programs of additional images, defined by the user of the simulation */
  readonly programs: NonNullable<SimulatedKubernetesOptions['programs']>;
  readonly #cloudTransport: (config: CloudConfig) => Transport;

  /** `clusters`: an existing registry to share */
  constructor(options: SimulatedKubernetesOptions, clusters: ClusterRegistry = new ClusterRegistry(options)) {
    this.clusters = clusters;
    this.charts = options.charts ?? (() => undefined);
    this.programs = options.programs ?? (() => undefined);
    this.#cloudTransport = options.cloudTransport ?? (() => noCloud);
  }

  /** Files of a volume that moves between nodes. */
  volumeTree(id: string): FileTree {
    let tree = this.#volumes.get(id);
    if (!tree) {
      tree = memoryTree();
      this.#volumes.set(id, tree);
    }
    return tree;
  }

  forgetVolume(id: string): void {
    this.#volumes.delete(id);
  }

  /** Connects to the cloud that a program in a Pod has credentials for. */
  openCloud(config: CloudConfig, { argv, clock, random }: SimulatedProcess): OpenStack {
    const userAgent = argv[0]?.slice(argv[0].lastIndexOf('/') + 1) ?? 'pod';
    return connect(config, { transport: this.#cloudTransport(config), clock, random, userAgent, env: {} });
  }

  /** Listens on a unix socket shared by the containers of one Pod. */
  listenLocally(process: SimulatedProcess, path: string, service: PortService): () => void {
    const key = socketKey(process, path);
    if (this.#sockets.has(key)) {
      throw Object.assign(new Error(`listen unix ${path}: bind: address already in use`), { code: 'EADDRINUSE' });
    }
    this.#sockets.set(key, service);
    return () => {
      if (this.#sockets.get(key) === service) this.#sockets.delete(key);
    };
  }

  /** Returns undefined if nobody listens. */
  dialLocally(process: SimulatedProcess, path: string): PortService | undefined {
    return this.#sockets.get(socketKey(process, path));
  }

  /**
   * Called with the content of all files that are deleted with a volume or a Pod. Deletes etcd data that has no other
   * holder.
   */
  filesRemoved(contents: Iterable<string>): void {
    for (const content of contents) {
      const data = readEtcdData(content);
      if (data) this.clusters.releaseFrom(data.clusterId, data.memberId);
    }
  }

  /** Stops everything that runs. The data stays for the next start. */
  async close(): Promise<void> {
    await this.clusters.close();
  }
}

const noCloud: Transport = (request) => {
  const { host } = new URL(request.url);
  return Promise.reject(Object.assign(new Error(`connect EHOSTUNREACH ${host}`), { code: 'EHOSTUNREACH' }));
};

/** Builds a service that only callers in this process can use. */
export function localOnly(service: Omit<PortService, 'accept'> = {}): PortService {
  return { ...service, accept: (socket: Duplex) => void socket.destroy() };
}

function socketKey({ namespace, hostname }: SimulatedProcess, path: string): string {
  return `${namespace}/${hostname}${path}`;
}
