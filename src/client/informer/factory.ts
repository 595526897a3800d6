import type { Clock, KubeObject, Random, Resource } from '../../machinery/index.ts';
import { sharedSignal } from '../abort.ts';
import { resourceId } from '../object-key.ts';
import type { Client } from '../types.ts';
import { createInformer } from './informer.ts';
import { type InformerPart, type PartedResource, partedInformer } from './parted.ts';
import type { Informer } from './types.ts';
import { withoutContent } from './without-content.ts';

export interface InformerFactoryOptions {
  client: Client;
  clock: Clock;
  random: Random;
  /** restricts informers of namespaced resources to one namespace, unless the scope names another */
  namespace?: string;
  transform?: <T extends KubeObject>(object: T) => T;
  bookmarkPeriodMs?: number;
  /** kinds with only some objects cached completely, for informers of all objects */
  parted?: readonly PartedResource[];
  onError?: (error: unknown, resource: Resource, during: 'sync' | 'watch' | 'handler') => void;
}

export interface InformerScope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** Shares one informer per resource and scope. */
export interface InformerFactory {
  /** returns the shared informer; it starts at once if the factory is running */
  informer<T extends KubeObject>(resource: Resource<T>, scope?: InformerScope): Informer<T>;
  /** stops an informer and drops its cache, for kinds that are no longer served */
  forget(informer: Informer<KubeObject>): void;
  /** all informers created so far; the same array as long as there is none more or less */
  informers(): readonly Informer<KubeObject>[];
  /** starts all current and future informers; resolves when all have ended after the abort */
  run(signal: AbortSignal): Promise<void>;
  /** resolves when all informers created so far have synced */
  waitForSync(signal?: AbortSignal): Promise<void>;
}

export function createInformerFactory(options: InformerFactoryOptions): InformerFactory {
  const shared = new Map<string, { informer: Informer<KubeObject>; stop: AbortController }>();
  const running = new Set<Promise<void>>();
  let runSignal: AbortSignal | undefined;
  /** the same array until an informer is added or forgotten: it is asked for with every event */
  let all: readonly Informer<KubeObject>[] | undefined;

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

  const create = <T extends KubeObject>(
    resource: Resource<T>,
    scope: InformerScope & Partial<Pick<InformerPart, 'metadataOnly'>>,
  ): Informer<T> => {
    const { transform, onError, bookmarkPeriodMs } = options;
    const kept = scope.metadataOnly === true ? withoutContent(resource) : transform;
    return createInformer<T>({
      client: options.client,
      clock: options.clock,
      random: options.random,
      resource,
      ...scope,
      ...(kept && { transform: kept }),
      ...(bookmarkPeriodMs !== undefined && { bookmarkPeriodMs }),
      ...(onError && { onError: (error, during) => onError(error, resource, during) }),
    });
  };

  return {
    informer<T extends KubeObject>(resource: Resource<T>, scope: InformerScope = {}): Informer<T> {
      const namespace = resource.namespaced ? (scope.namespace ?? options.namespace) : undefined;
      const { labelSelector, fieldSelector } = scope;
      const id = [resourceId(resource), namespace ?? '', labelSelector ?? '', fieldSelector ?? ''].join('|');
      const existing = shared.get(id);
      if (existing) return existing.informer as Informer<T>;
      const place = namespace === undefined ? {} : { namespace };
      const parted =
        labelSelector === undefined && fieldSelector === undefined
          ? options.parted?.find((kind) => resourceId(kind.resource) === resourceId(resource))
          : undefined;
      const informer = parted
        ? partedInformer<T>(parted, (part) => create(resource, { ...place, ...part }))
        : create(resource, {
            ...place,
            ...(labelSelector !== undefined && { labelSelector }),
            ...(fieldSelector !== undefined && { fieldSelector }),
          });
      const entry = { informer, stop: new AbortController() };
      shared.set(id, entry);
      all = undefined;
      start(entry);
      return informer;
    },
    forget(informer) {
      for (const [id, entry] of shared) {
        if (entry.informer !== informer) continue;
        shared.delete(id);
        all = undefined;
        entry.stop.abort();
      }
    },
    informers() {
      all ??= [...shared.values()].map(({ informer }) => informer);
      return all;
    },
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
