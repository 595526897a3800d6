import { writeBackup } from './backup.ts';
import { toBytes } from './encoded-value.ts';
import type { EncodedValue, Engine, EngineWrite } from './types.ts';

interface Kept {
  value: EncodedValue;
  revision: number;
  createRevision: number;
}

/** Engine in memory, for tests and temporary servers. Reopening it after a close finds its data. */
export function memoryEngine(): Engine {
  const kept = new Map<string, Kept>();
  let newest = 0;
  return {
    async load(onRecord) {
      for (const [key, { value, revision, createRevision }] of kept) {
        onRecord(key, toBytes(value), revision, createRevision);
      }
      return { revision: newest };
    },
    async commit(batch: readonly EngineWrite[]) {
      for (const write of batch) {
        if (write.type === 'put') {
          const { key, value, revision, createRevision } = write;
          kept.set(key, { value, revision, createRevision });
        } else {
          kept.delete(write.key);
        }
        newest = write.revision;
      }
    },
    async backup(path) {
      const records = [...kept].map(([key, { value, ...rest }]) => ({ key, ...rest, bytes: toBytes(value) }));
      await writeBackup(path, newest, records);
    },
    async close() {},
  };
}
