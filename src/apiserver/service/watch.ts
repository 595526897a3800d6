import { type Status, statusError } from '../../machinery/index.ts';
import { CompactedError, type StoreEvent, type StoreRecord } from '../../store/index.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { ServiceContext } from './context.ts';
import { compileFilter, parseResourceVersion, type RecordFilter, reachRevision, singleName } from './reads.ts';
import type { Caller, Target } from './types.ts';

export interface WatchSettings {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
}

export type WatchDelivery =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; record: StoreRecord<StoredObject> }
  | { type: 'BOOKMARK'; revision: number; initialEventsEnd: boolean }
  | { type: 'ERROR'; status: Status };

/** Destination of watch events: an HTTP response or an in-process iterator. */
export interface WatchSink {
  deliver(deliveries: readonly WatchDelivery[]): void;
  /** resolves when the reader can take more of a large initial state */
  ready(): Promise<void>;
  end(): void;
  /** ends the watch without flushing delivered events; default: `end` */
  cut?(): void;
}

const bookmarkIntervalMs = 60_000;
const initialChunk = 500;
/** Changes queued while the initial state is being sent; beyond this number the client must list again. */
const maxHeld = 10_000;
const minTimeoutMs = 30 * 60_000;

/**
 * Starts a watch and returns a function that stops it. The sink receives each event exactly once and in revision order:
 * first the initial state if requested, then all changes after it.
 */
export async function startWatch(
  context: ServiceContext,
  target: Target,
  caller: Caller,
  settings: WatchSettings,
  sink: WatchSink,
): Promise<() => void> {
  checkWatchSettings(settings);
  const filter = compileWatchFilter(target, settings);
  // A watch of one object is registered by its key, so changes of other objects cost nothing.
  const prefix = singleKey(target, settings) ?? keyPrefix(target.resource.keySpace, target.namespace);
  const asked = parseResourceVersion(settings.resourceVersion ?? '');
  await reachRevision(context, asked, caller.signal);
  const fromPresent = settings.sendInitialEvents ?? asked === 0;

  const watch = new RunningWatch(context, target, sink, filter, settings);
  if (fromPresent) watch.startFromPresent(prefix);
  else watch.startFromRevision(prefix, asked === 0 ? context.store.revision : asked);
  return () => watch.stop();
}

class RunningWatch {
  readonly #context: ServiceContext;
  readonly #sink: WatchSink;
  readonly #filter: RecordFilter | undefined;
  readonly #settings: WatchSettings;
  readonly #cancelTimers: (() => void)[] = [];
  #unsubscribe: (() => void) | undefined;
  #stopFollowingKind: (() => void) | undefined;
  /** changes received while the initial state is being sent */
  #held: WatchDelivery[] | undefined;
  #lastRevision = 0;
  #stopped = false;

  constructor(
    context: ServiceContext,
    target: Target,
    sink: WatchSink,
    filter: RecordFilter | undefined,
    settings: WatchSettings,
  ) {
    this.#context = context;
    this.#sink = sink;
    this.#filter = filter;
    this.#settings = settings;
    this.#cancelTimers.push(context.clock.after(this.#timeoutMs(), () => this.#finish()));
    if (settings.allowWatchBookmarks) this.#scheduleBookmark();
    if (target.resource.isCustom) this.#followKind(target);
  }

  startFromRevision(prefix: string, revision: number): void {
    this.#lastRevision = revision;
    try {
      this.#unsubscribe = this.#context.store.watch(prefix, revision, (events) => this.#onEvents(events));
    } catch (error) {
      if (!(error instanceof CompactedError)) throw error;
      const gone = statusError.expired(`too old resource version: ${revision} (${error.compacted})`);
      this.#sink.deliver([{ type: 'ERROR', status: gone.status }]);
      this.#finish();
    }
  }

  startFromPresent(prefix: string): void {
    const snapshot = this.#context.store.list(prefix);
    this.#held = [];
    this.startFromRevision(prefix, snapshot.revision);
    void this.#sendInitial(snapshot.records, snapshot.revision);
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#unsubscribe?.();
    this.#stopFollowingKind?.();
    for (const cancel of this.#cancelTimers) cancel();
  }

  /** Ends the watch when its kind is removed or redefined, so that readers list again. */
  #followKind({ resource, version }: Target): void {
    const { registry } = this.#context;
    const { group, plural } = resource.definition;
    this.#stopFollowingKind = registry.onChange(() => {
      const served = registry.find(group, version.name, plural);
      if (served?.resource.schemaRevision !== resource.schemaRevision) this.#finish();
    });
  }

  #finish(): void {
    if (this.#stopped) return;
    if (this.#settings.allowWatchBookmarks && this.#held === undefined) this.#bookmark();
    this.stop();
    this.#sink.end();
  }

  /** Sends a large state in slices, to flood neither the event loop nor the buffer of the reader. */
  async #sendInitial(records: readonly StoreRecord<StoredObject>[], revision: number): Promise<void> {
    let slice: WatchDelivery[] = [];
    for (const record of records) {
      if (this.#filter && !this.#filter(record)) continue;
      slice.push({ type: 'ADDED', record });
      if (slice.length === initialChunk) {
        this.#sink.deliver(slice);
        slice = [];
        await this.#sink.ready();
        if (this.#stopped) return;
      }
    }
    if (this.#settings.sendInitialEvents && this.#settings.allowWatchBookmarks) {
      slice.push({ type: 'BOOKMARK', revision, initialEventsEnd: true });
    }
    const held = this.#held ?? [];
    this.#held = undefined;
    const all = held.length > 0 ? slice.concat(held) : slice;
    if (all.length > 0) this.#sink.deliver(all);
  }

  #onEvents(events: readonly StoreEvent<StoredObject>[]): void {
    this.#lastRevision = events.at(-1)?.revision ?? this.#lastRevision;
    const deliveries = this.#filter ? this.#filtered(events, this.#filter) : events.map(toDelivery);
    if (deliveries.length === 0) return;
    if (this.#held) this.#hold(this.#held, deliveries);
    else this.#sink.deliver(deliveries);
  }

  #hold(held: WatchDelivery[], deliveries: readonly WatchDelivery[]): void {
    for (const delivery of deliveries) held.push(delivery);
    if (held.length <= maxHeld) return;
    this.stop();
    this.#held = [];
    if (this.#sink.cut) this.#sink.cut();
    else this.#sink.end();
  }

  /** An object that starts to match is reported as ADDED, one that stops matching as DELETED. */
  #filtered(events: readonly StoreEvent<StoredObject>[], filter: RecordFilter): WatchDelivery[] {
    const deliveries: WatchDelivery[] = [];
    for (const event of events) {
      const { previous } = event;
      const matched = previous !== undefined && filter(previous);
      if (event.type === 'delete') {
        if (matched) deliveries.push(toDelivery(event));
        continue;
      }
      const matches = filter(event.record);
      if (matches) deliveries.push({ type: matched ? 'MODIFIED' : 'ADDED', record: event.record });
      else if (matched) deliveries.push({ type: 'DELETED', record: atRevision(previous, event.revision) });
    }
    return deliveries;
  }

  #scheduleBookmark(): void {
    this.#cancelTimers.push(
      this.#context.clock.after(bookmarkIntervalMs, () => {
        this.#cancelTimers.splice(1);
        if (this.#held === undefined) this.#bookmark();
        this.#scheduleBookmark();
      }),
    );
  }

  #bookmark(): void {
    // The watch has processed all events up to the store's revision, whether they matched or not.
    const revision = Math.max(this.#lastRevision, this.#context.store.revision);
    this.#sink.deliver([{ type: 'BOOKMARK', revision, initialEventsEnd: false }]);
  }

  #timeoutMs(): number {
    const { timeoutSeconds } = this.#settings;
    if (timeoutSeconds !== undefined && timeoutSeconds > 0) return timeoutSeconds * 1000;
    return minTimeoutMs * (1 + this.#context.random.next());
  }
}

const deletedRecords = new WeakMap<StoreEvent<StoredObject>, StoreRecord<StoredObject>>();

function toDelivery(event: StoreEvent<StoredObject>): WatchDelivery {
  if (event.type === 'put') return { type: event.previous ? 'MODIFIED' : 'ADDED', record: event.record };
  let record = deletedRecords.get(event);
  if (!record) {
    record = atRevision(event.previous, event.revision);
    deletedRecords.set(event, record);
  }
  return { type: 'DELETED', record };
}

/** Returns the last state of an object with the revision of its deletion. */
function atRevision(record: StoreRecord<StoredObject>, revision: number): StoreRecord<StoredObject> {
  const { object } = record.value;
  const value = StoredObject.fromObject({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(revision) },
  });
  return { key: record.key, value, revision, createRevision: record.createRevision };
}

/** Returns the key if a watch is for a single object, as in `kubectl wait` and `kubectl delete`. */
function singleKey({ resource, namespace }: Target, settings: WatchSettings): string | undefined {
  const name = singleName(settings.fieldSelector ?? '');
  if (name === undefined || (namespace === undefined && resource.definition.namespaced)) return undefined;
  return objectKey(resource.keySpace, namespace, name);
}

function compileWatchFilter(target: Target, settings: WatchSettings): RecordFilter | undefined {
  const key = singleKey(target, settings);
  if (key !== undefined && (settings.labelSelector ?? '') === '') return (record) => record.key === key;
  return compileFilter(target, settings.labelSelector ?? '', settings.fieldSelector ?? '');
}

function checkWatchSettings(settings: WatchSettings): void {
  const invalid = (field: string, detail: string): Error =>
    statusError.invalid('meta.k8s.io', 'ListOptions', '', [{ type: 'Forbidden', field, detail }]);
  const match = settings.resourceVersionMatch ?? '';
  if (settings.sendInitialEvents === undefined) {
    if (match !== '') {
      throw invalid(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    }
    return;
  }
  if (match === '') {
    throw invalid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match !== 'NotOlderThan') {
    throw statusError.invalid('meta.k8s.io', 'ListOptions', '', [
      { type: 'NotSupported', field: 'resourceVersionMatch', value: match, detail: 'supported values: "NotOlderThan"' },
    ]);
  }
}
