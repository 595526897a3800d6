import type { Client, WatchEvent, WatchOptions } from '../../client/index.ts';
import { type Clock, type KubeObject, type ManualClock, type Resource, sleep } from '../../machinery/index.ts';

/** A process that can be paused at any point, as by an operating system, and resumes much later. */
export interface SimulatedProcess {
  /** timers do not fire while it is paused; all that were due fire when it resumes */
  readonly clock: Clock;
  /** sent requests arrive; responses wait while it is paused */
  readonly client: Client;
  pause(): void;
  resume(): void;
}

/** One of several processes that use the same API. Each request takes twice `latencyMs`. */
export function simulatedProcess(clock: ManualClock, server: Client, latencyMs: () => number): SimulatedProcess {
  let isPaused = false;
  const waiting: (() => void)[] = [];
  const whenAwake = (callback: () => void): void => {
    if (isPaused) waiting.push(callback);
    else callback();
  };
  const awake = (): Promise<void> => new Promise((resolve) => whenAwake(resolve));
  const over = async <T>(call: () => Promise<T>): Promise<T> => {
    await sleep(clock, latencyMs());
    try {
      return await call();
    } finally {
      await sleep(clock, latencyMs());
      await awake();
    }
  };
  return {
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      for (const callback of waiting.splice(0)) callback();
    },
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after(ms, callback) {
        let isCancelled = false;
        const cancel = clock.after(ms, () =>
          whenAwake(() => {
            if (!isCancelled) callback();
          }),
        );
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    },
    client: {
      get: (resource, key, options) => over(() => server.get(resource, key, options)),
      list: (resource, options) => over(() => server.list(resource, options)),
      async *watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions) {
        const arrived: { event: WatchEvent<T>; due: number }[] = [];
        let isOver = false;
        let failure: unknown;
        let wake = (): void => {};
        // Events that occur together are delivered together.
        void (async () => {
          try {
            for await (const event of server.watch(resource, options)) {
              arrived.push({ event, due: clock.now() + latencyMs() });
              wake();
            }
          } catch (error) {
            failure = error;
          }
          isOver = true;
          wake();
        })();
        for (;;) {
          const next = arrived.shift();
          if (next) {
            await sleep(clock, Math.max(0, next.due - clock.now()));
            await awake();
            yield next.event;
          } else if (isOver) {
            if (failure !== undefined) throw failure;
            return;
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      },
      create: (resource, object, options) => over(() => server.create(resource, object, options)),
      update: (resource, object, options) => over(() => server.update(resource, object, options)),
      patch: (resource, key, type, patch, options) => over(() => server.patch(resource, key, type, patch, options)),
      apply: (resource, object, options) => over(() => server.apply(resource, object, options)),
      delete: (resource, key, options) => over(() => server.delete(resource, key, options)),
      deleteCollection: (resource, options) => over(() => server.deleteCollection(resource, options)),
      createSubresource: (resource, key, subresource, body, options) =>
        over(() => server.createSubresource(resource, key, subresource, body, options)),
    },
  };
}
