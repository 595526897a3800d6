import {
  ApiStatusError,
  asTyped,
  CapstanError,
  type Clock,
  isExpired,
  isInvalid,
  type KubeObject,
  type Random,
  type Resource,
  sleep,
} from '../../machinery/index.ts';
import { keyOf } from '../object-key.ts';
import type { Client, WatchEvent } from '../types.ts';
import { type Backoff, exponentialBackoff } from './backoff.ts';

/** Where the reflector puts what it learns. */
export interface ReflectorSink<T extends KubeObject> {
  /** the whole content as of `resourceVersion` */
  replace(objects: Map<string, T>, resourceVersion: string): void;
  put(object: T): void;
  /** `last` is the final state the server sent */
  remove(key: string, last: T): void;
  /** nothing changed up to `resourceVersion` */
  progress(resourceVersion: string): void;
  failed(error: unknown, during: 'sync' | 'watch'): void;
  /** the stream works again */
  healthy(): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  client: Client;
  resource: Resource<T>;
  clock: Clock;
  random: Random;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** the server may leave the content of objects out */
  metadataOnly?: boolean;
  bookmarkPeriodMs?: number;
  /** changes what is kept */
  transform?: (object: T) => T;
  /** more than this is an error; default: any number */
  maxObjects?: number;
}

const initialEventsEnd = 'k8s.io/initial-events-end';
const pageSize = 500;
/** A server that goes on with empty pages never ends. */
const maxPages = 10_000;
const firstBackoffMs = 200;
const maxBackoffMs = 30_000;
/** Servers that ignore sendInitialEvents never send the bookmark that ends it; silence this long gives them away. */
const initialSilenceMs = 15_000;

interface Session<T extends KubeObject> extends ReflectorOptions<T> {
  sink: ReflectorSink<T>;
  signal: AbortSignal;
  backoff: Backoff;
  /** false once the server has shown that it does not know streaming lists */
  streamingLists: boolean;
}

/** A server has more objects than anybody wants to keep. */
export class TooManyObjectsError extends CapstanError {
  constructor(plural: string, limit: number) {
    super('CAP_TOO_MANY_OBJECTS', `the server has more than ${limit} ${plural}`);
    this.name = 'TooManyObjectsError';
  }
}

/** Lists and watches until the signal aborts, whatever happens. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  signal: AbortSignal,
): Promise<void> {
  const session: Session<T> = {
    ...options,
    sink,
    signal,
    backoff: exponentialBackoff({ firstMs: firstBackoffMs, maxMs: maxBackoffMs, random: options.random }),
    streamingLists: true,
  };
  let resourceVersion: string | undefined;
  while (!signal.aborted) {
    try {
      if (resourceVersion === undefined) {
        resourceVersion = session.streamingLists ? await watchList(session) : await list(session);
      } else {
        resourceVersion = await watch(session, resourceVersion);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (session.streamingLists && isStreamingListRefusal(error)) {
        session.streamingLists = false;
        continue;
      }
      sink.failed(error, 'sync');
      resourceVersion = undefined;
      await pause(session);
    }
  }
}

/** Waits before the next attempt; ends early, without an error, when the signal aborts. */
async function pause<T extends KubeObject>(session: Session<T>): Promise<void> {
  await sleep(session.clock, session.backoff.next(), session.signal).catch(() => {});
}

class StreamingListSilence extends Error {}

function isStreamingListRefusal(error: unknown): boolean {
  return (
    error instanceof StreamingListSilence ||
    isInvalid(error) ||
    (error instanceof ApiStatusError && (error.code === 400 || error.code === 405 || error.code === 406))
  );
}

function scopeOf<T extends KubeObject>(
  session: Session<T>,
): {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  metadataOnly?: boolean;
} {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = session;
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly !== undefined && { metadataOnly }),
  };
}

/** A watch is renewed every 5 to 10 minutes, at random, so that reconnects after a server restart spread out. */
function watchTimeoutSeconds(random: Random): number {
  return 300 + Math.floor(random.next() * 300);
}

/** At once, so that what nobody wants never adds up. */
function transformed<T extends KubeObject>({ transform }: Session<T>, object: T): T {
  return transform ? transform(object) : object;
}

function checkCount<T extends KubeObject>({ maxObjects, resource }: Session<T>, count: number): void {
  if (maxObjects !== undefined && count > maxObjects) throw new TooManyObjectsError(resource.plural, maxObjects);
}

/** The classic way: pages of a consistent snapshot. */
async function list<T extends KubeObject>(session: Session<T>): Promise<string> {
  const { client, resource, signal, sink } = session;
  const scope = scopeOf(session);
  const objects = new Map<string, T>();
  const take = (items: readonly T[]): void => {
    for (const item of items) objects.set(keyOf(item), transformed(session, item));
    checkCount(session, objects.size);
  };
  let page = await client.list(resource, { ...scope, limit: pageSize, signal });
  const resourceVersion = page.metadata.resourceVersion ?? '';
  for (let pages = 1; ; pages++) {
    take(page.items);
    if (pages > maxPages) throw new Error(`the list of ${resource.plural} does not end`);
    const next = page.metadata.continue;
    if (next === undefined || next === '') break;
    try {
      page = await client.list(resource, { ...scope, limit: pageSize, continue: next, signal });
    } catch (error) {
      if (!isExpired(error)) throw error;
      // the snapshot went away between two pages: everything at once cannot expire
      const whole = await client.list(resource, { ...scope, signal });
      objects.clear();
      take(whole.items);
      sink.replace(objects, whole.metadata.resourceVersion ?? '');
      session.backoff.reset();
      return whole.metadata.resourceVersion ?? '';
    }
  }
  sink.replace(objects, resourceVersion);
  session.backoff.reset();
  return resourceVersion;
}

/** The streaming way: one watch that begins with everything there is. Ends where the following watch must go on. */
async function watchList<T extends KubeObject>(session: Session<T>): Promise<string | undefined> {
  const { client, resource, sink, signal, random } = session;
  const initial = new Map<string, T>();
  let version: string | undefined;
  const guard = silenceGuard(session, initialSilenceMs);
  try {
    const events = client.watch(resource, {
      ...scopeOf(session),
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      timeoutSeconds: watchTimeoutSeconds(random),
      signal: guard.signal,
    });
    for await (const event of events) {
      guard.touch();
      if (version !== undefined) {
        version = deliver(sink, event) ?? version;
        continue;
      }
      if (event.type === 'BOOKMARK') {
        if (event.object.metadata.annotations?.[initialEventsEnd] !== 'true') continue;
        version = event.object.metadata.resourceVersion ?? '';
        sink.replace(initial, version);
        session.backoff.reset();
        guard.setLimit(silenceLimit(session));
      } else if (event.type === 'DELETED') initial.delete(keyOf(event.object));
      else {
        initial.set(keyOf(event.object), transformed(session, event.object));
        checkCount(session, initial.size);
      }
    }
  } catch (error) {
    if (version === undefined) throw guard.silent() ? new StreamingListSilence() : error;
    return await afterWatchFailure(session, version, error, guard.silent());
  } finally {
    guard.end();
  }
  if (version !== undefined) return version;
  if (signal.aborted) return undefined;
  if (guard.silent()) throw new StreamingListSilence();
  throw new Error(`the watch of ${resource.plural} ended before its initial events did`);
}

/** Follows changes from `from`. Resolves with where to go on, or undefined when everything must be listed again. */
async function watch<T extends KubeObject>(session: Session<T>, from: string): Promise<string | undefined> {
  const { client, resource, sink, clock, random, signal } = session;
  const startedAt = clock.now();
  let version = from;
  let received = false;
  const guard = silenceGuard(session, silenceLimit(session));
  try {
    const events = client.watch(resource, {
      ...scopeOf(session),
      resourceVersion: from,
      allowWatchBookmarks: true,
      timeoutSeconds: watchTimeoutSeconds(random),
      signal: guard.signal,
    });
    for await (const event of events) {
      guard.touch();
      if (!received) {
        received = true;
        session.backoff.reset();
        sink.healthy();
      }
      version = deliver(sink, event) ?? version;
    }
  } catch (error) {
    return await afterWatchFailure(session, version, error, guard.silent());
  } finally {
    guard.end();
  }
  // a stream that ends at once and empty would otherwise become a busy loop
  if (!received && !signal.aborted && clock.now() - startedAt < 1000) await pause(session);
  return version;
}

async function afterWatchFailure<T extends KubeObject>(
  session: Session<T>,
  version: string,
  error: unknown,
  silent: boolean,
): Promise<string | undefined> {
  if (session.signal.aborted) return version;
  // a dead connection is not a failure of the server: go on where it stopped
  if (silent) return version;
  session.sink.failed(error, 'watch');
  await pause(session);
  const answered = error instanceof ApiStatusError;
  if (answered && (error.code === 429 || error.code >= 500)) return version;
  // any other refusal (410 above all) means that our version is of no use any more
  return answered ? undefined : version;
}

/** Applies one event; returns the version reached. */
function deliver<T extends KubeObject>(sink: ReflectorSink<T>, event: WatchEvent<T>): string | undefined {
  const { object } = event;
  const version = object.metadata.resourceVersion;
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      sink.put(object);
      break;
    case 'DELETED':
      sink.remove(keyOf(object), object);
      break;
    case 'BOOKMARK':
      if (version !== undefined) sink.progress(version);
      break;
    case 'ERROR':
      throw new ApiStatusError(asTyped<ApiStatusError['status']>(object));
  }
  return version;
}

function silenceLimit<T extends KubeObject>(session: Session<T>): number {
  return 2 * (session.bookmarkPeriodMs ?? 60_000);
}

interface SilenceGuard {
  signal: AbortSignal;
  touch(): void;
  setLimit(ms: number): void;
  silent(): boolean;
  end(): void;
}

/**
 * Aborts when nothing was received for `limitMs`, at most half of that later. It looks twice per limit, instead of setting a new timer per
 * event; and it compares no times, which a computer that sets its clock would make meaningless.
 */
function silenceGuard<T extends KubeObject>(session: Session<T>, limitMs: number): SilenceGuard {
  const { clock, signal } = session;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let limit = limitMs;
  // The beginning counts as a look that heard something just before it.
  let quietLooks = 1;
  let silent = false;
  const look = (): void => {
    if (++quietLooks <= 2) {
      cancel = clock.after(limit / 2, look);
      return;
    }
    silent = true;
    controller.abort(new Error(`no sign of life for ${limit} ms`));
  };
  let cancel = clock.after(limit / 2, look);
  return {
    signal: controller.signal,
    touch() {
      quietLooks = 0;
    },
    setLimit(ms) {
      limit = ms;
    },
    silent: () => silent,
    end() {
      cancel();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
