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

export interface ReflectorSink<T extends KubeObject> {
  /** replaces the content by the state at `resourceVersion` */
  replace(objects: Map<string, T>, resourceVersion: string): void;
  put(object: T): void;
  /** `last` is the final state from the server */
  remove(key: string, last: T): void;
  /** reports that nothing changed up to `resourceVersion` */
  progress(resourceVersion: string): void;
  failed(error: unknown, during: 'sync' | 'watch'): void;
  /** called when the stream works again */
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
  /** lets the server omit everything but metadata */
  metadataOnly?: boolean;
  bookmarkPeriodMs?: number;
  transform?: (object: T) => T;
  /** maximum number of objects, beyond which it fails; default: unlimited */
  maxObjects?: number;
}

const initialEventsEnd = 'k8s.io/initial-events-end';
const pageSize = 500;
/** Limit of pages, for servers that return empty pages forever. */
const maxPages = 10_000;
const firstBackoffMs = 200;
const maxBackoffMs = 30_000;
/** Servers without sendInitialEvents never send the final bookmark; they are detected by this much silence. */
const initialSilenceMs = 15_000;

interface Session<T extends KubeObject> extends ReflectorOptions<T> {
  sink: ReflectorSink<T>;
  signal: AbortSignal;
  backoff: Backoff;
  /** false once the server proved not to support streaming lists */
  streamingLists: boolean;
}

export class TooManyObjectsError extends CapstanError {
  constructor(plural: string, limit: number) {
    super('CAP_TOO_MANY_OBJECTS', `the server has more than ${limit} ${plural}`);
    this.name = 'TooManyObjectsError';
  }
}

/** Lists and watches until the signal aborts, and retries after every error. */
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

/** Waits before the next attempt; returns early without error if the signal aborts. */
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

/** A watch lasts 5 to 10 minutes, at random, so that reconnects after a server restart spread out. */
function watchTimeoutSeconds(random: Random): number {
  return 300 + Math.floor(random.next() * 300);
}

/** Transforms each object at once, so that unneeded data does not accumulate. */
function transformed<T extends KubeObject>({ transform }: Session<T>, object: T): T {
  return transform ? transform(object) : object;
}

function checkCount<T extends KubeObject>({ maxObjects, resource }: Session<T>, count: number): void {
  if (maxObjects !== undefined && count > maxObjects) throw new TooManyObjectsError(resource.plural, maxObjects);
}

/** Lists pages of a consistent snapshot. */
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
      // The snapshot expired between two pages, so list everything in one request.
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

/** Lists by a watch that starts with all objects. Returns the version from which to continue. */
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

/** Watches changes from `from`. Resolves with the version to continue from, or undefined if a new list is required. */
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
  // Prevents a busy loop if streams end at once without events.
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
  // A dead connection is no server error; continue from the same version.
  if (silent) return version;
  session.sink.failed(error, 'watch');
  await pause(session);
  const answered = error instanceof ApiStatusError;
  if (answered && (error.code === 429 || error.code >= 500)) return version;
  // Any other error response (mainly 410) means that the version is no longer usable.
  return answered ? undefined : version;
}

/** Applies one event and returns its version. */
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
 * Aborts after `limitMs` without data, at most half of that later. It checks twice per limit instead of setting a timer
 * per event. It compares no timestamps, so clock changes do not matter.
 */
function silenceGuard<T extends KubeObject>(session: Session<T>, limitMs: number): SilenceGuard {
  const { clock, signal } = session;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  let limit = limitMs;
  // The start counts as a check right after received data.
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
