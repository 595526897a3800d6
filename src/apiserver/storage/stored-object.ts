import {
  asJson,
  deepFreeze,
  type ObjectMeta,
  type OwnerReference,
  parseJson,
  statusError,
  stringifyJson,
  stringifyObject,
  type UnstructuredObject,
} from '../../machinery/index.ts';

interface Header {
  /** apiVersion of the stored object */
  v: string;
  /** labels, stored outside the body so that selectors need not parse objects */
  l?: Record<string, string>;
  /** expiry in milliseconds since the epoch */
  x?: number;
  /** uid, owners and related fields that the ownership graph needs */
  u?: string;
  o?: OwnerReference[];
  f?: string[];
  d?: string;
  /** 1: contains integers beyond double precision */
  n?: 1;
}

function headerOf(object: UnstructuredObject, expiresAtMs: number | undefined): Header {
  const { labels, uid, ownerReferences, finalizers, deletionTimestamp } = object.metadata;
  const header: Header = { v: object.apiVersion };
  if (labels) header.l = labels;
  if (expiresAtMs !== undefined) header.x = expiresAtMs;
  if (uid !== undefined) header.u = uid;
  if (ownerReferences) header.o = ownerReferences;
  if (finalizers) header.f = finalizers;
  if (deletionTimestamp !== undefined) header.d = deletionTimestamp;
  return header;
}

const newline = 0x0a;

/** Request limit of etcd, and thus the size limit of a Kubernetes object. */
export const maxStoredBytes: number = 1.5 * 1024 * 1024;
/** Maximum UTF-8 bytes per UTF-16 code unit of a string. */
const maxBytesPerCharacter = 3;

function isLonger(text: string, maxBytes: number): boolean {
  return text.length * maxBytesPerCharacter > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** Ring of objects with cached parsed form; a process-wide cache without observable effect. */
const recentlyParsed: (StoredObject | undefined)[] = new Array(512).fill(undefined);
let nextSlot = 0;

/**
 * A stored object: its JSON text, which all responses and watch events share, and a parsed form that is created on
 * demand and cached for a while. So each object is in memory once, as text, and concurrent readers share one immutable
 * instance. Text instead of bytes, because a buffer or weak reference per object costs the allocator and garbage
 * collector more than the rest of a write.
 */
export class StoredObject {
  readonly json: string;
  readonly #header: Header;
  #parsed: UnstructuredObject | undefined;

  private constructor(json: string, header: Header, parsed?: UnstructuredObject) {
    this.json = json;
    this.#header = header;
    if (parsed) this.#keep(parsed);
  }

  /**
   * Takes ownership of `object`, which the caller must not change afterwards. As in kube-apiserver, an object larger
   * than `maxBytes` loses its field ownership before it is refused.
   */
  static fromObject(object: UnstructuredObject, expiresAtMs?: number, maxBytes?: number): StoredObject {
    const header = headerOf(object, expiresAtMs);
    let { json, hasLargeIntegers } = stringifyObject(asJson(object));
    if (maxBytes !== undefined && isLonger(json, maxBytes)) {
      delete object.metadata.managedFields;
      ({ json, hasLargeIntegers } = stringifyObject(asJson(object)));
      if (isLonger(json, maxBytes)) throw statusError.storageTooLarge();
    }
    if (hasLargeIntegers) header.n = 1;
    return new StoredObject(json, header, finish(object));
  }

  static decode(encoded: Uint8Array): StoredObject {
    const buffer = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const headerEnd = buffer.indexOf(newline);
    const header = JSON.parse(buffer.toString('utf8', 0, headerEnd)) as Header;
    return new StoredObject(buffer.toString('utf8', headerEnd + 1), header);
  }

  /** Encodes the header as one line, followed by the object. JSON text has no line breaks. */
  encode(): readonly string[] {
    return [`${stringifyJson(asJson(this.#header))}\n`, this.json];
  }

  /** Size limit for updates: an oversized stored object may stay as large or shrink. */
  get maxBytesOfNext(): number {
    return isLonger(this.json, maxStoredBytes) ? Buffer.byteLength(this.json) : maxStoredBytes;
  }

  /** apiVersion the text is in */
  get apiVersion(): string {
    return this.#header.v;
  }

  get labels(): Readonly<Record<string, string>> | undefined {
    return this.#header.l;
  }

  get expiresAtMs(): number | undefined {
    return this.#header.x;
  }

  /** Identity and ownership metadata, available without parsing the object. */
  get identity(): Pick<ObjectMeta, 'uid' | 'labels' | 'ownerReferences' | 'finalizers' | 'deletionTimestamp'> {
    const metadata: ObjectMeta = {};
    this.addIdentityTo(metadata);
    return metadata;
  }

  /** Copies the same fields to `metadata`. Called for every event of a watched object. */
  addIdentityTo(metadata: ObjectMeta): void {
    const { u, l, o, f, d } = this.#header;
    if (u !== undefined) metadata.uid = u;
    if (l) metadata.labels = l;
    if (o) metadata.ownerReferences = o;
    if (f) metadata.finalizers = f;
    if (d !== undefined) metadata.deletionTimestamp = d;
  }

  /** the parsed object; shared, must not be changed */
  get object(): UnstructuredObject {
    return this.#parsed ?? this.#keep(finish(this.#parse() as UnstructuredObject));
  }

  #parse(): unknown {
    return this.#header.n ? parseJson(this.json) : JSON.parse(this.json);
  }

  #keep(parsed: UnstructuredObject): UnstructuredObject {
    this.#parsed = parsed;
    const evicted = recentlyParsed[nextSlot];
    if (evicted) evicted.#parsed = undefined;
    recentlyParsed[nextSlot] = this;
    nextSlot = (nextSlot + 1) % recentlyParsed.length;
    return parsed;
  }
}

// Freezing costs as much as parsing, so only development and tests enable it.
const freezeObjects = process.env['CAPSTAN_FREEZE_OBJECTS'] === '1';

function finish(object: UnstructuredObject): UnstructuredObject {
  return freezeObjects ? deepFreeze(object) : object;
}
