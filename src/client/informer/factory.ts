import type { Clock, KubeObject, Random, Resource } from '../../machinery/index.ts';
import { sharedSignal } from '../abort.ts';
import { resourceId } from '../object-key.ts';
import type { Client } from '../types.ts';
import { createInformer } from './informer.ts';
import type { Informer } from './types.ts';

export interface InformerFactoryOptions {
  client: Client;
  clock: Clock;
  random: Random;
  /** limits every informer of a namespaced resource to one namespace, unless it asks for another */
  namespace?: string;
  transform?: <T extends KubeObject>(object: T) => T;
  bookmarkPeriodMs?: number;
  onError?: (error: unknown, resource: Resource, during: 'sync' | 'watch' | 'handler') => void;
}

export interface InformerScope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** One shared informer per resource and scope, however many ask for it. */
export interface InformerFactory {
  /** the shared informer; started at once when the factory runs already */
  informer<T extends KubeObject>(resource: Resource<T>, scope?: InformerScope): Informer<T>;
  /** stops an informer and forgets its cache, for kinds that are no longer served */
  forget(informer: Informer<KubeObject>): void;
  /** all informers asked for so far */
  informers(): readonly Informer<KubeObject>[];
  /** starts all informers, and those asked for later as they come; resolves when all have ended after the abort */
  run(signal: AbortSignal): Promise<void>;
  /** resolves when every informer asked for so far has synced */
  waitForSync(signal?: AbortSignal): Promise<void>;
}

export function createInformerFactory(options: InformerFactoryOptions): InformerFactory {
  const shared = new Map<string, { informer: Informer<KubeObject>; stop: AbortController }>();
  const running = new Set<Promise<void>>();
  let runSignal: AbortSignal | undefined;

  const start = (entry: { informer: Informer<KubeObject>; stop: AbortController }): void => {
    if (!runSignal || runSignal.aborted) return;
    const { informer, stop } = entry;
    const outer = runSignal;
    const onAbort = (): void => stop.abort(outer.reason);
    outer.addEventListener('abort', onAbort, { once: true });
    const done = informer.run(stop.signal).finally(() => {
      outer.removeEventListener('abort', onAbort);
      running.delete(done);
    });
    running.add(done);
  };

  return {
    informer<T extends KubeObject>(resource: Resource<T>, scope: InformerScope = {}): Informer<T> {
      const namespace = resource.namespaced ? (scope.namespace ?? options.namespace) : undefined;
      const { labelSelector, fieldSelector } = scope;
      const id = [resourceId(resource), namespace ?? '', labelSelector ?? '', fieldSelector ?? ''].join('|');
      const existing = shared.get(id);
      if (existing) return existing.informer as Informer<T>;
      const { transform, onError, bookmarkPeriodMs } = options;
      const informer = createInformer<T>({
        client: options.client,
        clock: options.clock,
        random: options.random,
        resource,
        ...(namespace !== undefined && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
        ...(transform && { transform }),
        ...(bookmarkPeriodMs !== undefined && { bookmarkPeriodMs }),
        ...(onError && { onError: (error, during) => onError(error, resource, during) }),
      });
      const entry = { informer, stop: new AbortController() };
      shared.set(id, entry);
      start(entry);
      return informer;
    },
    forget(informer) {
      for (const [id, entry] of shared) {
        if (entry.informer !== informer) continue;
        shared.delete(id);
        entry.stop.abort();
      }
    },
    informers: () => [...shared.values()].map(({ informer }) => informer),
    async run(signal) {
      runSignal = sharedSignal(signal);
      for (const entry of shared.values()) start(entry);
      if (!signal.aborted)
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.all(running);
    },
    async waitForSync(signal) {
      if (signal) sharedSignal(signal);
      await Promise.all([...shared.values()].map(({ informer }) => informer.waitForSync(signal)));
    },
  };
}
