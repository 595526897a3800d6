import { formatKey, type ObjectKey } from '../../../client/index.ts';
import { errorMessage } from '../../../machinery/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';

export type TransferOutcome = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** Uploads that take longer than a reconcile may. Few run at a time; the others wait. */
export interface Transfers {
  isUnderWay(image: ObjectKey, uid: string): boolean;
  start(image: ObjectKey, uid: string, work: (signal: AbortSignal) => Promise<void>): void;
  /** returns the result of the last upload, once */
  take(image: ObjectKey, uid: string): TransferOutcome | undefined;
  /** aborts the upload of an image */
  cancel(image: ObjectKey): void;
  /** enqueues images whose upload ended; aborts all uploads when the controller stops */
  readonly source: ExternalSource;
}

interface Transfer {
  readonly uid: string;
  readonly stop: AbortController;
  outcome?: TransferOutcome;
}

const maxAtOnce = 4;

export function createTransfers(): Transfers {
  const transfers = new Map<string, Transfer>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let wake: (image: ObjectKey) => void = () => {};

  const run = async (
    image: ObjectKey,
    transfer: Transfer,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> => {
    if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      transfer.stop.signal.throwIfAborted();
      await work(transfer.stop.signal);
      transfer.outcome = { ok: true };
    } catch (error) {
      transfer.outcome = { ok: false, problem: errorMessage(error) };
    } finally {
      running--;
      waiting.shift()?.();
      if (!transfer.stop.signal.aborted) wake(image);
    }
  };
  const find = (image: ObjectKey, uid: string): Transfer | undefined => {
    const found = transfers.get(formatKey(image));
    return found?.uid === uid ? found : undefined;
  };
  const cancel = (image: ObjectKey): void => {
    const id = formatKey(image);
    transfers.get(id)?.stop.abort();
    transfers.delete(id);
  };

  return {
    isUnderWay(image, uid) {
      const found = find(image, uid);
      return found !== undefined && found.outcome === undefined;
    },
    start(image, uid, work) {
      cancel(image);
      const transfer: Transfer = { uid, stop: new AbortController() };
      transfers.set(formatKey(image), transfer);
      void run(image, transfer, work);
    },
    take(image, uid) {
      const outcome = find(image, uid)?.outcome;
      if (outcome) transfers.delete(formatKey(image));
      return outcome;
    },
    cancel,
    source: {
      start({ enqueue, signal }) {
        wake = enqueue;
        signal.addEventListener(
          'abort',
          () => {
            for (const { stop } of transfers.values()) stop.abort();
            transfers.clear();
          },
          { once: true },
        );
      },
    },
  };
}
