import type { Clock } from '../../machinery/index.ts';
import { type Engine, type HistoryLimits, openStore, type Store } from '../../store/index.ts';
import { isSecretKey } from './keys.ts';
import { StoredObject } from './stored-object.ts';

/**
 * Encrypts bytes for the disk. The ciphertext is bound to `key`, so sealed values cannot be swapped between objects.
 */
export interface Sealer {
  seal(key: string, bytes: Uint8Array): Uint8Array;
  open(key: string, sealed: Uint8Array): Uint8Array;
}

/** Opens the object store on an engine. With a sealer, Secrets are encrypted on disk. */
export function openObjectStore(options: {
  engine: Engine;
  sealer?: Sealer;
  clock?: Clock;
  /** history available to watches and lists */
  history?: Partial<HistoryLimits>;
}): Promise<Store<StoredObject>> {
  const { engine, sealer, clock, history } = options;
  return openStore<StoredObject>({
    engine,
    ...(clock && { clock }),
    ...(history && { history }),
    codec: {
      encode: (key, value) =>
        sealer && isSecretKey(key) ? sealer.seal(key, Buffer.from(value.encode().join(''))) : value.encode(),
      decode: (key, bytes) => StoredObject.decode(sealer && isSecretKey(key) ? sealer.open(key, bytes) : bytes),
    },
  });
}
