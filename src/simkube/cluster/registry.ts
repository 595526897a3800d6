import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../machinery/index.ts';
import { privateFileMode, writeFileAtomic } from '../../pki/index.ts';
import { lmdbEngine, memoryEngine } from '../../store/index.ts';
import type { EtcdSnapshot } from '../etcd/etcd-cluster.ts';
import type { SimulatedKubernetesOptions } from '../options.ts';
import { type CloudView, WorkloadCluster } from './workload-cluster.ts';

/** What is kept of a cluster besides its objects. */
interface KeptCluster {
  readonly etcd: EtcdSnapshot;
  /** servers that hold data of it: with the last of them it is gone */
  readonly servers: readonly string[];
}

interface Entry {
  etcd: EtcdSnapshot;
  readonly servers: Set<string>;
  opened: Promise<WorkloadCluster> | undefined;
  /** writes of the file one after the other */
  saving: Promise<void>;
}

const fileName = 'cluster.json';

/** Every workload cluster of a cloud, found by the id its machines have on their disks. */
export class ClusterRegistry {
  readonly #options: SimulatedKubernetesOptions;
  readonly #cloud: CloudView;
  readonly #entries = new Map<string, Entry>();

  constructor(options: SimulatedKubernetesOptions, cloud: CloudView) {
    this.#options = options;
    this.#cloud = cloud;
    if (options.directory !== undefined) this.#readKept(options.directory);
  }

  /** A new etcd cluster without members. */
  create(): Promise<WorkloadCluster> {
    const { random } = this.#options;
    const id = `${random.text(1, '123456789abcdef')}${random.text(15, '0123456789abcdef')}`;
    const etcd: EtcdSnapshot = { id, members: [], leaderId: undefined, term: 1, alarms: [] };
    const entry: Entry = { etcd, servers: new Set(), opened: undefined, saving: Promise.resolve() };
    this.#entries.set(id, entry);
    return this.#open(entry);
  }

  /** undefined: nobody has its data any more */
  async find(id: string): Promise<WorkloadCluster | undefined> {
    const entry = this.#entries.get(id);
    return entry && (await this.#open(entry));
  }

  /** A server has data of the cluster on its disk. */
  claim(id: string, serverId: string): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.servers.has(serverId)) return;
    entry.servers.add(serverId);
    this.#save(entry);
  }

  /** A server is gone, and its disk with it. */
  release(serverId: string): void {
    for (const [id, entry] of this.#entries) {
      if (!entry.servers.delete(serverId)) continue;
      if (entry.servers.size > 0) this.#save(entry);
      else this.#destroy(id, entry);
    }
  }

  /** Clusters that are open now. */
  async opened(): Promise<WorkloadCluster[]> {
    const all = await Promise.allSettled([...this.#entries.values()].map((entry) => entry.opened));
    return all.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []));
  }

  async close(): Promise<void> {
    const clusters = await this.opened();
    await Promise.all(clusters.map((cluster) => cluster.close()));
    await Promise.all([...this.#entries.values()].map(({ saving }) => saving));
  }

  #open(entry: Entry): Promise<WorkloadCluster> {
    entry.opened ??= this.#openNow(entry);
    return entry.opened;
  }

  async #openNow(entry: Entry): Promise<WorkloadCluster> {
    const { clock, random, log } = this.#options;
    const directory = this.#directoryOf(entry.etcd.id);
    if (directory !== undefined) mkdirSync(directory, { recursive: true, mode: 0o700 });
    const engine = directory === undefined ? memoryEngine() : await lmdbEngine({ directory: join(directory, 'store') });
    return new WorkloadCluster({
      clock,
      random,
      log,
      engine,
      snapshot: entry.etcd,
      cloud: this.#cloud,
      save: (snapshot) => {
        entry.etcd = snapshot;
        this.#save(entry);
      },
    });
  }

  #destroy(id: string, entry: Entry): void {
    this.#entries.delete(id);
    const directory = this.#directoryOf(id);
    const end = async (): Promise<void> => {
      await entry.saving;
      await (await entry.opened)?.close();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    };
    end().catch((error: unknown) =>
      this.#options.log.warn('Data of a workload cluster could not be removed', { cluster: id, error }),
    );
  }

  #directoryOf(id: string): string | undefined {
    const { directory } = this.#options;
    return directory === undefined ? undefined : join(directory, id);
  }

  #save(entry: Entry): void {
    const directory = this.#directoryOf(entry.etcd.id);
    if (directory === undefined) return;
    entry.saving = entry.saving.then(async () => {
      try {
        const kept: KeptCluster = { etcd: entry.etcd, servers: [...entry.servers] };
        await writeFileAtomic(join(directory, fileName), `${JSON.stringify(kept, undefined, 2)}\n`, privateFileMode);
      } catch (error) {
        this.#options.log.error('Members of a workload cluster could not be saved', { error: errorMessage(error) });
      }
    });
  }

  #readKept(directory: string): void {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory)) {
      try {
        const kept = JSON.parse(readFileSync(join(directory, name, fileName), 'utf8')) as KeptCluster;
        const servers = new Set(kept.servers);
        this.#entries.set(kept.etcd.id, {
          etcd: kept.etcd,
          servers,
          opened: undefined,
          saving: Promise.resolve(),
        });
      } catch (error) {
        this.#options.log.warn('Data of a workload cluster cannot be read', { name, error: errorMessage(error) });
      }
    }
  }
}
