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
  /** apiVersion the bytes are in */
  v: string;
  /** labels, kept outside the body so that selectors need not parse objects */
  l?: Record<string, string>;
  /** milliseconds since the epoch after which the object is to be swept away */
  x?: number;
  /** who it is and what holds it: all that ownership graphs need */
  u?: string;
  o?: OwnerReference[];
  f?: string[];
  d?: string;
  /** 1: has integers that no double holds */
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

/** What etcd takes in one request: larger objects are no objects for Kubernetes. */
export const maxStoredBytes: number = 1.5 * 1024 * 1024;
/** a character of a string is at most so many bytes of UTF-8 */
const maxBytesPerCharacter = 3;

function isLonger(text: string, maxBytes: number): boolean {
  return text.length * maxBytesPerCharacter > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** Objects whose parsed form is kept, oldest overwritten first: a cache of the process, which nobody can observe. */
const recentlyParsed: (StoredObject | undefined)[] = new Array(512).fill(undefined);
let nextSlot = 0;

/**
 * An object as the store keeps it: its JSON text, shared by every response and watch event, and the parsed form made on
 * demand and kept for a while, so that memory holds each object once, as text, and readers soon after each other share one
 * immutable instance. Text, not bytes: a buffer per object costs the allocator and the garbage collector more than all
 * the rest of a write, and so does a weak reference.
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
   * Takes ownership of `object`: the caller must not change it any more. One that is larger than `maxBytes` loses the record
   * of who owns which field, as in kube-apiserver, before it is refused.
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

  /** The header on a line of its own, then the object; JSON text has no line breaks. */
  encode(): readonly string[] {
    return [`${stringifyJson(asJson(this.#header))}\n`, this.json];
  }

  /** What an update may make of it: whatever is stored already may become smaller. */
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

  /** The part of the metadata that says who the object is and what holds it, without parsing the object. */
  get identity(): Pick<ObjectMeta, 'uid' | 'labels' | 'ownerReferences' | 'finalizers' | 'deletionTimestamp'> {
    const metadata: ObjectMeta = {};
    this.addIdentityTo(metadata);
    return metadata;
  }

  /** The same as members of `metadata`: events make one for every object that somebody watches. */
  addIdentityTo(metadata: ObjectMeta): void {
    const { u, l, o, f, d } = this.#header;
    if (u !== undefined) metadata.uid = u;
    if (l) metadata.labels = l;
    if (o) metadata.ownerReferences = o;
    if (f) metadata.finalizers = f;
    if (d !== undefined) metadata.deletionTimestamp = d;
  }

  /** the parsed object; shared, never to be changed */
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

// Freezing costs as much as parsing, so only development and test runs pay for it.
const freezeObjects = process.env['CAPSTAN_FREEZE_OBJECTS'] === '1';

function finish(object: UnstructuredObject): UnstructuredObject {
  return freezeObjects ? deepFreeze(object) : object;
}
