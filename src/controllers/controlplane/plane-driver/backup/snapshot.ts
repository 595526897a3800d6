import type { EtcdAdministrator } from '../../etcd-client/types.ts';

/** Yields the chunks of a snapshot with backpressure: etcd sends the next one after the last was consumed. */
export async function* snapshotParts(client: EtcdAdministrator, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  let offer: Buffer | undefined;
  let taken: () => void = () => {};
  let wake: () => void = () => {};
  let end: { error?: unknown } | undefined;
  const running = client
    .snapshot(
      (part) =>
        new Promise<void>((resolve) => {
          if (stop.signal.aborted) return resolve();
          offer = part;
          taken = resolve;
          wake();
        }),
      both,
    )
    .then(
      () => {
        end = {};
      },
      (error: unknown) => {
        end = { error };
      },
    )
    .finally(() => wake());
  try {
    for (;;) {
      while (!offer && !end)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (offer) {
        const part = offer;
        offer = undefined;
        yield part;
        taken();
        continue;
      }
      if (end?.error !== undefined) throw end.error;
      return;
    }
  } finally {
    stop.abort(new Error('nobody takes the snapshot'));
    taken();
    await running;
  }
}
