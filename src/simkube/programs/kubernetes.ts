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

/** What the programs of all Pods share: what is stored, and the sockets inside of Pods. */
export class SimulatedKubernetes {
  readonly clusters: ClusterRegistry;
  /** etcd clusters whose first members are starting */
  readonly bootstraps: Bootstraps = new Bootstraps();
  /** how busy scripts of all containers share the time there is */
  readonly shellPace: ShellPace = new ShellPace();
  readonly #sockets = new Map<string, PortService>();
  readonly #volumes = new Map<string, FileTree>();
  /** CSI drivers whose socket is open */
  readonly csi: CsiSockets = new CsiSockets();
  /** where charts of k0s extensions come from */
  readonly charts: ChartSource;
  /** of images that only whoever built the simulation knows */
  readonly programs: NonNullable<SimulatedKubernetesOptions['programs']>;
  readonly #cloudTransport: (config: CloudConfig) => Transport;

  /** `clusters`: where what is stored is kept already */
  constructor(options: SimulatedKubernetesOptions, clusters: ClusterRegistry = new ClusterRegistry(options)) {
    this.clusters = clusters;
    this.charts = options.charts ?? (() => undefined);
    this.programs = options.programs ?? (() => undefined);
    this.#cloudTransport = options.cloudTransport ?? (() => noCloud);
  }

  /** The files of a volume that moves between nodes. */
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

  /** The cloud a program in a Pod has credentials of. */
  openCloud(config: CloudConfig, { argv, clock, random }: SimulatedProcess): OpenStack {
    const userAgent = argv[0]?.slice(argv[0].lastIndexOf('/') + 1) ?? 'pod';
    return connect(config, { transport: this.#cloudTransport(config), clock, random, userAgent, env: {} });
  }

  /** Listens on a unix socket, which the containers of one Pod share. */
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

  /** undefined: nobody listens there */
  dialLocally(process: SimulatedProcess, path: string): PortService | undefined {
    return this.#sockets.get(socketKey(process, path));
  }

  /**
   * Files are about to be gone for good, with a volume or with a Pod: data of etcd that nobody has elsewhere goes with them.
   * The content of every file is to be given.
   */
  filesRemoved(contents: Iterable<string>): void {
    for (const content of contents) {
      const data = readEtcdData(content);
      if (data) this.clusters.releaseFrom(data.clusterId, data.memberId);
    }
  }

  /** Ends what still runs; what is stored stays for the next start. */
  async close(): Promise<void> {
    await this.clusters.close();
  }
}

const noCloud: Transport = (request) => {
  const { host } = new URL(request.url);
  return Promise.reject(Object.assign(new Error(`connect EHOSTUNREACH ${host}`), { code: 'EHOSTUNREACH' }));
};

/** A socket that nobody outside of this process can speak to. */
export function localOnly(service: Omit<PortService, 'accept'> = {}): PortService {
  return { ...service, accept: (socket: Duplex) => void socket.destroy() };
}

function socketKey({ namespace, hostname }: SimulatedProcess, path: string): string {
  return `${namespace}/${hostname}${path}`;
}
