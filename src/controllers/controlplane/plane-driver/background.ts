import { formatKey, type ObjectKey } from '../../../client/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';

/** State of a background job. */
export type WorkState<T> =
  | { readonly kind: 'running'; readonly since: number }
  | { readonly kind: 'finished'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Runs jobs that take longer than a reconcile may, and enqueues the owner when a job ends. */
export interface BackgroundWork {
  /** must be a source of the controller; jobs are aborted when it stops */
  readonly source: ExternalSource;
  start<T>(owner: ObjectKey, purpose: string, nowMs: number, work: (signal: AbortSignal) => Promise<T>): void;
  /** returns a finished result only once */
  take<T>(owner: ObjectKey, purpose: string): WorkState<T> | undefined;
  /** whether a job with this purpose runs for any object of a namespace */
  isUnderWay(namespace: string, purpose: string): boolean;
  forget(owner: ObjectKey): void;
}

export function createBackgroundWork(): BackgroundWork {
  const states = new Map<string, { state: WorkState<unknown>; stop: AbortController }>();
  let enqueue: (key: ObjectKey) => void = () => {};
  const idOf = (owner: ObjectKey, purpose: string): string => `${formatKey(owner)} ${purpose}`;
  return {
    source: {
      start(context) {
        enqueue = context.enqueue;
        context.signal.addEventListener(
          'abort',
          () => {
            for (const { stop } of states.values()) stop.abort(context.signal.reason);
            states.clear();
          },
          { once: true },
        );
      },
    },
    start(owner, purpose, nowMs, work) {
      const id = idOf(owner, purpose);
      if (states.get(id)?.state.kind === 'running') return;
      const stop = new AbortController();
      const entry = { state: { kind: 'running', since: nowMs } as WorkState<unknown>, stop };
      states.set(id, entry);
      const settle = (state: WorkState<unknown>): void => {
        if (states.get(id) !== entry) return;
        entry.state = state;
        enqueue(owner);
      };
      work(stop.signal).then(
        (value) => settle({ kind: 'finished', value }),
        (error: unknown) => settle({ kind: 'failed', error }),
      );
    },
    take<T>(owner: ObjectKey, purpose: string) {
      const id = idOf(owner, purpose);
      const entry = states.get(id);
      if (entry && entry.state.kind !== 'running') states.delete(id);
      return entry?.state as WorkState<T> | undefined;
    },
    isUnderWay(namespace, purpose) {
      const [start, end] = [idOf({ namespace, name: '' }, '').trimEnd(), ` ${purpose}`];
      return [...states].some(
        ([id, { state }]) => state.kind === 'running' && id.startsWith(start) && id.endsWith(end),
      );
    },
    forget(owner) {
      const prefix = idOf(owner, '');
      for (const [id, { stop }] of states) {
        if (!id.startsWith(prefix)) continue;
        stop.abort(new Error('its owner is gone'));
        states.delete(id);
      }
    },
  };
}
