import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../machinery/index.ts';
import { privateFileMode, writeFileAtomic } from '../../pki/index.ts';
import { type Engine, journalEngine, lmdbEngine, memoryEngine } from '../../store/index.ts';
import { EtcdCluster, type EtcdSnapshot } from '../etcd/etcd-cluster.ts';
import type { SimulatedKubernetesOptions } from '../options.ts';
import { WorkloadCluster } from './workload-cluster.ts';

/** Persistent data of an etcd cluster besides the objects. */
interface KeptCluster {
  readonly etcd: EtcdSnapshot;
  /** servers and members that hold data of the cluster; it is deleted with the last of them */
  readonly servers: readonly string[];
  /** prefixes that contain data */
  readonly keyspaces?: readonly string[];
}

interface Entry {
  readonly etcd: EtcdCluster;
  readonly holders: Set<string>;
  readonly keyspaces: Map<string, WorkloadCluster>;
  /** prefixes used by an earlier process */
  readonly knownPrefixes: Set<string>;
  /** pending file write; writes are serialized */
  saving: Promise<void>;
  isSaved: boolean;
}

const fileName = 'cluster.json';
/** kube-apiserver's default etcd prefix */
export const defaultPrefix = '/registry';

/** All simulated etcd clusters with their Kubernetes clusters, found by the id stored on disks and volumes. */
export class ClusterRegistry {
  readonly #options: SimulatedKubernetesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: SimulatedKubernetesOptions) {
    this.#options = options;
    if (options.directory !== undefined) this.#readKept(options.directory);
  }

  /** Creates an etcd cluster without members. */
  createEtcd(): EtcdCluster {
    const entry = this.#add(new EtcdCluster({ random: this.#options.random }));
    return entry.etcd;
  }

  /** Returns undefined if nobody holds its data any more. */
  etcd(id: string): EtcdCluster | undefined {
    return this.#entries.get(id)?.etcd;
  }

  /** Lists all etcd clusters with data. */
  etcds(): EtcdCluster[] {
    return [...this.#entries.values()].map(({ etcd }) => etcd);
  }

  /** Returns the Kubernetes cluster below a prefix. Throws if the etcd cluster is gone. */
  keyspace(id: string, prefix: string = defaultPrefix): WorkloadCluster {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`the data of etcd cluster ${id} is gone`);
    let keyspace = entry.keyspaces.get(prefix);
    if (!keyspace) {
      const { clock, random, log } = this.#options;
      keyspace = new WorkloadCluster({
        clock,
        random,
        log,
        etcd: entry.etcd,
        prefix,
        hasRun: entry.knownPrefixes.has(prefix),
        openEngine: this.#engineOf(id, prefix),
      });
      entry.keyspaces.set(prefix, keyspace);
      if (!entry.knownPrefixes.has(prefix)) {
        entry.knownPrefixes.add(prefix);
        this.#save(entry);
      }
    }
    return keyspace;
  }

  /** Lists all Kubernetes clusters in an etcd cluster. */
  keyspaces(id: string): WorkloadCluster[] {
    const entry = this.#entries.get(id);
    return entry ? [...entry.knownPrefixes].sort().map((prefix) => this.keyspace(id, prefix)) : [];
  }

  /** Deletes everything below a prefix. */
  async dropKeyspace(id: string, prefix: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry?.knownPrefixes.delete(prefix)) return;
    const keyspace = entry.keyspaces.get(prefix);
    entry.keyspaces.delete(prefix);
    this.#save(entry);
    await keyspace?.close();
    const directory = this.#directoryOf(id);
    if (directory === undefined) return;
    for (const path of [storePath(directory, prefix), journalPath(directory, prefix)]) {
      rmSync(path, { recursive: true, force: true });
    }
  }

  /** resolves when membership data is on disk */
  async saved(id: string): Promise<void> {
    await this.#entries.get(id)?.saving;
  }

  /** Records that a server or volume holds data of the cluster. */
  claim(id: string, holder: string): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.holders.has(holder)) return;
    entry.holders.add(holder);
    this.#save(entry);
  }

  /** Records that a server is gone together with its disk. */
  release(holder: string): void {
    for (const id of [...this.#entries.keys()]) this.releaseFrom(id, holder);
  }

  /** Records that a holder has no data of this cluster any more. */
  releaseFrom(id: string, holder: string): void {
    const entry = this.#entries.get(id);
    if (!entry?.holders.delete(holder)) return;
    if (entry.holders.size > 0) this.#save(entry);
    else this.#destroy(id, entry);
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    await Promise.all(entries.flatMap(({ keyspaces }) => [...keyspaces.values()]).map((each) => each.close()));
    await Promise.all(entries.map(({ saving }) => saving));
  }

  #add(etcd: EtcdCluster, kept?: KeptCluster): Entry {
    const entry: Entry = {
      etcd,
      holders: new Set(kept?.servers),
      keyspaces: new Map(),
      knownPrefixes: new Set(kept?.keyspaces ?? (kept ? [defaultPrefix] : [])),
      saving: Promise.resolve(),
      isSaved: true,
    };
    this.#entries.set(etcd.id, entry);
    etcd.onChange(() => this.#save(entry));
    return entry;
  }

  #engineOf(id: string, prefix: string): () => Promise<Engine> {
    const directory = this.#directoryOf(id);
    if (directory === undefined) {
      const engine = memoryEngine();
      return async () => engine;
    }
    return async () => {
      // Older versions had a database per cluster.
      const older = storePath(directory, prefix);
      if (existsSync(older)) return await lmdbEngine({ directory: older });
      return await journalEngine({ file: journalPath(directory, prefix) });
    };
  }

  #destroy(id: string, entry: Entry): void {
    this.#entries.delete(id);
    const directory = this.#directoryOf(id);
    const end = async (): Promise<void> => {
      await entry.saving;
      await Promise.all([...entry.keyspaces.values()].map((keyspace) => keyspace.close()));
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

  /** Saves concurrent changes in one write. */
  #save(entry: Entry): void {
    const { etcd } = entry;
    const directory = this.#directoryOf(etcd.id);
    if (directory === undefined || !entry.isSaved || this.#entries.get(etcd.id) !== entry) return;
    entry.isSaved = false;
    entry.saving = entry.saving.then(async () => {
      entry.isSaved = true;
      try {
        const kept: KeptCluster = {
          etcd: etcd.snapshot(),
          servers: [...entry.holders],
          keyspaces: [...entry.knownPrefixes],
        };
        mkdirSync(directory, { recursive: true, mode: 0o700 });
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
        this.#add(new EtcdCluster({ random: this.#options.random, snapshot: kept.etcd }), kept);
      } catch (error) {
        this.#options.log.warn('Data of a workload cluster cannot be read', { name, error: errorMessage(error) });
      }
    }
  }
}

function journalPath(directory: string, prefix: string): string {
  return `${storePath(directory, prefix)}.journal`;
}

function storePath(directory: string, prefix: string): string {
  return join(directory, prefix === defaultPrefix ? 'store' : `store-${encodeURIComponent(prefix)}`);
}
