import { writeBackup } from './backup.ts';
import type { Engine, EngineWrite } from './types.ts';

interface Kept {
  bytes: Uint8Array;
  revision: number;
  createRevision: number;
}

/** Keeps everything in memory: for tests and throw-away servers. Opening it again after a close finds what was there. */
export function memoryEngine(): Engine {
  const kept = new Map<string, Kept>();
  let newest = 0;
  return {
    async load(onRecord) {
      for (const [key, { bytes, revision, createRevision }] of kept) onRecord(key, bytes, revision, createRevision);
      return { revision: newest };
    },
    async commit(batch: readonly EngineWrite[]) {
      for (const write of batch) {
        if (write.type === 'put') {
          const { key, bytes, revision, createRevision } = write;
          kept.set(key, { bytes, revision, createRevision });
        } else {
          kept.delete(write.key);
        }
        newest = write.revision;
      }
    },
    async backup(path) {
      const records = [...kept].map(([key, record]) => ({ key, ...record }));
      await writeBackup(path, newest, records);
    },
    async close() {},
  };
}
