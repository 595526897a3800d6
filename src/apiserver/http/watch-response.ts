import {
  type JsonObject,
  jsonText,
  must,
  type Status,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { StoreRecord } from '../../store/index.ts';
import type { MaybePromise } from '../registry/index.ts';
import type { Target } from '../service/types.ts';
import type { WatchDelivery, WatchSink } from '../service/watch.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type IncludeObject, partialMetadata, renderTable } from '../table/table.ts';
import type { Exchange } from './exchange.ts';
import type { Representation } from './media-types.ts';
import { servesText, viewRecord } from './render.ts';
import { writePacer } from './write-pacer.ts';

/** A watcher with more unread data is disconnected and lists again. Waiting for it would cost too much memory. */
const maxBufferedBytes = 16 * 1024 * 1024;

/**
 * Events rendered in this turn of the event loop, shared by all watchers with the same format. Cleared at the end of
 * the turn, because all watchers of a change are served in the turn of its commit.
 */
const turnCache = new Map<StoredObject, Map<string, Buffer>>();

function cachedRender(object: StoredObject, form: string, render: () => Buffer): Buffer {
  if (turnCache.size === 0) setImmediate(() => turnCache.clear());
  let forms = turnCache.get(object);
  if (!forms) {
    forms = new Map();
    turnCache.set(object, forms);
  }
  let bytes = forms.get(form);
  if (!bytes) {
    bytes = render();
    forms.set(form, bytes);
  }
  return bytes;
}

const nothing = Buffer.alloc(0);
let lastJoined: { parts: readonly Buffer[]; bytes: Buffer } = { parts: [], bytes: nothing };

/** Concatenates buffers and caches the last result, because watchers of the same changes follow one another. */
function joined(parts: readonly Buffer[]): Buffer {
  if (parts.length === 1) return must(parts[0], 'the first of parts');
  if (parts.length !== lastJoined.parts.length || parts.some((part, i) => part !== lastJoined.parts[i])) {
    lastJoined = { parts, bytes: Buffer.concat(parts) };
    setImmediate(forgetJoined);
  }
  return lastJoined.bytes;
}

function forgetJoined(): void {
  lastJoined = { parts: [], bytes: nothing };
}

/** Streams watch events as JSON lines. */
export class WatchResponse implements WatchSink {
  readonly #exchange: Exchange;
  readonly #target: Target;
  readonly #representation: Representation;
  /** one event is one line, so never indented */
  readonly #plain: Representation;
  readonly #includeObject: IncludeObject;
  readonly #now: () => number;
  /** set while an event waits for an asynchronous conversion; later events queue behind it */
  #tail: Promise<void> | undefined;
  #columnsSent = false;
  #ended = false;
  /** rendered events that wait to be written */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  readonly #flush = (): void => this.#writePending();

  constructor(
    exchange: Exchange,
    target: Target,
    options: { representation: Representation; includeObject: IncludeObject; now: () => number },
  ) {
    this.#exchange = exchange;
    this.#target = target;
    this.#representation = options.representation;
    this.#plain = { ...options.representation, pretty: false };
    this.#includeObject = options.includeObject;
    this.#now = options.now;
    if (options.representation.encoding !== 'json') {
      throw statusError.notAcceptable('only the following media types are accepted: application/json');
    }
    exchange.writeHead(200, { 'content-type': 'application/json' });
    // Clients consider a watch established when they receive the headers.
    exchange.wire.flushHead();
  }

  deliver(deliveries: readonly WatchDelivery[]): void {
    if (this.#ended) return;
    const parts: Buffer[] = [];
    for (let i = 0; i < deliveries.length; i++) {
      const rendered = this.#tail ? undefined : this.#render(must(deliveries[i], 'deliveries[i]'));
      if (rendered !== undefined && !(rendered instanceof Promise)) {
        parts.push(rendered);
        continue;
      }
      this.#write(parts);
      this.#deliverLater(rendered, deliveries.slice(rendered ? i + 1 : i));
      return;
    }
    this.#write(parts);
  }

  /** Keeps the order of events when one needs an asynchronous conversion: all later events wait for it. */
  #deliverLater(first: Promise<Buffer> | undefined, rest: readonly WatchDelivery[]): void {
    const previous = this.#tail ?? Promise.resolve();
    const mine = previous
      .then(async () => {
        if (first) this.#write([await first]);
        for (const delivery of rest) this.#write([await this.#render(delivery)]);
      })
      .catch(() => this.end())
      .finally(() => {
        if (this.#tail === mine) this.#tail = undefined;
      });
    this.#tail = mine;
  }

  #write(parts: readonly Buffer[]): void {
    if (parts.length === 0 || this.#ended || this.#exchange.gone) return;
    const waiting = this.#pending.length > 0;
    for (const part of parts) {
      this.#pending.push(part);
      this.#pendingBytes += part.length;
    }
    if (this.#pendingBytes > maxBufferedBytes) this.cut();
    else if (!waiting) writePacer.run(this.#flush);
  }

  #writePending(): void {
    const { output } = this.#exchange;
    if (this.#pending.length === 0 || output.destroyed || output.writableEnded) return;
    const parts = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (output.writableLength > maxBufferedBytes) this.cut();
    else output.write(joined(parts));
  }

  async ready(): Promise<void> {
    const { output } = this.#exchange;
    await new Promise<void>((resolve) => (this.#pending.length > 0 ? writePacer.run(resolve) : setImmediate(resolve)));
    if (output.destroyed || !output.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        output.off('drain', done);
        output.off('close', done);
        resolve();
      };
      output.on('drain', done);
      output.on('close', done);
    });
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#writePending();
    this.#exchange.end();
  }

  cut(): void {
    this.#ended = true;
    this.#pending = [];
    this.#exchange.output.destroy();
  }

  #render(delivery: WatchDelivery): MaybePromise<Buffer> {
    switch (delivery.type) {
      case 'ERROR':
        return line('ERROR', delivery.status);
      case 'BOOKMARK':
        return this.#renderBookmark(delivery.revision, delivery.initialEventsEnd);
      default:
        return this.#renderRecord(delivery.type, delivery.record);
    }
  }

  #renderRecord(type: string, record: StoreRecord<StoredObject>): MaybePromise<Buffer> {
    const { as } = this.#representation;
    if (servesText(this.#target, record, this.#plain)) {
      return cachedRender(record.value, type, () => Buffer.from(`{"type":"${type}","object":${record.value.json}}\n`));
    }
    const withColumns = !this.#columnsSent;
    this.#columnsSent = true;
    const form = `${type} ${this.#target.apiVersion} ${as} ${this.#includeObject} ${withColumns}`;
    const known = turnCache.get(record.value)?.get(form);
    if (known) return known;
    const render = (object: UnstructuredObject): Buffer =>
      cachedRender(record.value, form, () => line(type, this.#shape(object, withColumns)));
    const view = viewRecord(this.#target, record);
    return view instanceof Promise ? view.then(render) : render(view);
  }

  #shape(object: UnstructuredObject, withColumns: boolean): unknown {
    switch (this.#representation.as) {
      case 'object':
        return object;
      case 'partial':
        return partialMetadata(object);
      case 'table':
        return renderTable({
          printer: this.#target.version.printer,
          objects: [object],
          metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
          includeObject: this.#includeObject,
          nowMs: this.#now(),
          withColumns,
        });
    }
  }

  #renderBookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const metadata: JsonObject = { resourceVersion: String(revision) };
    if (initialEventsEnd) metadata['annotations'] = { 'k8s.io/initial-events-end': 'true' };
    if (this.#representation.as === 'table') {
      return line('BOOKMARK', {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: String(revision) },
        columnDefinitions: null,
        rows: [{ cells: [], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } }],
      });
    }
    const partial = this.#representation.as === 'partial';
    return line('BOOKMARK', {
      kind: partial ? 'PartialObjectMetadata' : this.#target.resource.definition.kind,
      apiVersion: partial ? 'meta.k8s.io/v1' : this.#target.apiVersion,
      metadata,
    });
  }
}

function line(type: string, object: unknown | Status): Buffer {
  return Buffer.from(`${jsonText({ type, object })}\n`);
}
