import { createHash } from 'node:crypto';
import { StoredObject } from '../../apiserver/index.ts';
import type { UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { ClusterRegistry } from '../cluster/registry.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';
import type { KeyRange } from './access.ts';
import type { EtcdCluster } from './etcd-cluster.ts';
import { readSnapshot, type SnapshotEntry, snapshotLines } from './snapshot.ts';

/** A key in etcd's format. */
export interface EtcdEntry {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
  readonly createRevision: number;
}

const baseBytes = 2_000_000;
const revisionBytes = 1_000;

/** Data of an etcd cluster by key: the objects of all its Kubernetes clusters, below the prefix of each. */
export class EtcdKeys {
  readonly #registry: ClusterRegistry;
  readonly #etcd: EtcdCluster;

  constructor(registry: ClusterRegistry, etcd: EtcdCluster) {
    this.#registry = registry;
    this.#etcd = etcd;
  }

  /** Newest revision. */
  revision(): number {
    return this.#registry.keyspaces(this.#etcd.id).reduce((sum, { revision }) => sum + revision, 0);
  }

  /** Reported database size in bytes. */
  bytes(): number {
    return baseBytes + this.revision() * revisionBytes;
  }

  /** Every member must return the same hash for the same revision. */
  hash(revision: number): number {
    return createHash('sha256').update(`${this.#etcd.id} ${revision}`).digest().readUInt32BE(0);
  }

  /** Resolves when membership data is on disk. */
  saved(): Promise<void> {
    return this.#registry.saved(this.#etcd.id);
  }

  async range(range: KeyRange, limit = 0): Promise<{ entries: EtcdEntry[]; count: number }> {
    const entries: EtcdEntry[] = [];
    let count = 0;
    for (const keyspace of this.#touched(range)) {
      await keyspace.withStore(async (store) => {
        for (const record of store.list('/').records) {
          const key = keyspace.prefix + record.key;
          if (!isWithin(key, range)) continue;
          count++;
          if (limit > 0 && entries.length >= limit) continue;
          const { revision, createRevision } = record;
          entries.push({ key, value: record.value.json, revision, createRevision });
        }
      });
    }
    return { entries, count };
  }

  /** Throws SyntaxError if the value is not a Kubernetes object. */
  async put(key: string, value: string): Promise<void> {
    const split = splitKey(key);
    if (!split) throw new SyntaxError(`the key ${key} is below no prefix`);
    const object = JSON.parse(value) as UnstructuredObject;
    const keyspace = this.#registry.keyspace(this.#etcd.id, split.prefix);
    await keyspace.withStore((store) => putObject(store, split.key, object));
  }

  async deleteRange(range: KeyRange): Promise<number> {
    let deleted = 0;
    for (const keyspace of this.#touched(range)) {
      let isEmpty = false;
      await keyspace.withStore(async (store) => {
        const doomed = store.list('/').records.filter(({ key }) => isWithin(keyspace.prefix + key, range));
        await Promise.all(
          doomed.map(({ key }) => {
            const head = store.head(key);
            return head && store.delete(key, { kind: 'revision', revision: head.revision });
          }),
        );
        deleted += doomed.length;
        isEmpty = store.count('/') === 0;
      });
      if (isEmpty && !keyspace.isServed) await this.#registry.dropKeyspace(this.#etcd.id, keyspace.prefix);
    }
    return deleted;
  }

  /** Returns all data as one text. */
  async snapshot(): Promise<string> {
    const entries: SnapshotEntry[] = [];
    for (const keyspace of this.#registry.keyspaces(this.#etcd.id)) {
      const { prefix } = keyspace;
      await keyspace.withStore(async (store) => {
        for (const { key, value } of store.list('/').records) {
          if (!isFleeting(key)) entries.push({ prefix, key, value: value.json });
        }
      });
    }
    return snapshotLines({ clusterId: this.#etcd.id, revision: this.revision(), entries });
  }

  /** Restores a snapshot. Throws SyntaxError if it is damaged. */
  async restore(text: string): Promise<void> {
    const { entries } = readSnapshot(text);
    for (const prefix of new Set(entries.map((entry) => entry.prefix))) {
      const own = entries.filter((entry) => entry.prefix === prefix);
      await this.#registry.keyspace(this.#etcd.id, prefix).withStore(async (store) => {
        await Promise.all(own.map(({ key, value }) => putObject(store, key, JSON.parse(value) as UnstructuredObject)));
      });
    }
  }

  #touched({ from, to }: KeyRange): WorkloadCluster[] {
    return this.#registry
      .keyspaces(this.#etcd.id)
      .filter(({ prefix }) => (to === '\0' || prefix < to) && `${prefix}/\u{10ffff}` >= from);
  }
}

/** Events expire by leases, which snapshots do not contain. */
function isFleeting(key: string): boolean {
  return key.startsWith('/core/events/') || key.startsWith('/events.k8s.io/');
}

async function putObject(store: Store<StoredObject>, key: string, object: UnstructuredObject): Promise<void> {
  const head = store.head(key);
  await store.put(key, head ? { kind: 'revision', revision: head.revision } : { kind: 'absent' }, (revision) =>
    StoredObject.fromObject({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(revision) },
    }),
  );
}

function isWithin(key: string, { from, to }: KeyRange): boolean {
  if (to === '') return key === from;
  return key >= from && (to === '\0' || key < to);
}

/** Splits a key; its first segment is the prefix. */
function splitKey(key: string): { prefix: string; key: string } | undefined {
  const match = /^(\/[^/]+)(\/.+)$/.exec(key);
  return match ? { prefix: match[1] ?? '', key: match[2] ?? '' } : undefined;
}
