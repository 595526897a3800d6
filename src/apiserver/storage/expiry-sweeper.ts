import { ConflictError } from '../../store/index.ts';
import type { ServiceContext } from '../service/context.ts';
import { keyPrefix } from './keys.ts';

const sweepIntervalMs = 60_000;
/** Maximum deletes per sweep; the rest waits for the next one. */
const sweepBatch = 2000;

/** Deletes expired objects (events, an hour after their last write). Returns a function that stops it. */
export function startExpirySweeper(context: ServiceContext, onError: (error: unknown) => void): () => void {
  let cancel = (): void => {};
  let stopped = false;
  const schedule = (): void => {
    if (stopped) return;
    cancel = context.clock.after(sweepIntervalMs, () => {
      sweep(context).catch(onError).finally(schedule);
    });
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
}

async function sweep(context: ServiceContext): Promise<void> {
  const nowMs = context.clock.now();
  const deletes: Promise<unknown>[] = [];
  for (const { definition, keySpace } of context.registry.all()) {
    if (definition.ttlMs === undefined || definition.storedAs) continue;
    for (const record of context.store.list(keyPrefix(keySpace)).records) {
      const { expiresAtMs } = record.value;
      if (expiresAtMs === undefined || expiresAtMs > nowMs) continue;
      deletes.push(
        context.store.delete(record.key, { kind: 'revision', revision: record.revision }).catch((error: unknown) => {
          // The object was written meanwhile, so it has not expired.
          if (!(error instanceof ConflictError)) throw error;
        }),
      );
      if (deletes.length === sweepBatch) return void (await Promise.all(deletes));
    }
  }
  await Promise.all(deletes);
}
