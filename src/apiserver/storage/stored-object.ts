import { deepFreeze, type ObjectMeta, type OwnerReference, type UnstructuredObject } from '../../machinery/index.ts';

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

const headerLengthBytes = 4;

/**
 * An object as the store keeps it: its JSON bytes, shared by every response and watch event, and the parsed form made on
 * demand. The parsed form is held weakly: it lives as long as somebody (an informer, a request) uses it, so that memory
 * holds each object once, as bytes, and all users of the parsed form share one immutable instance.
 */
export class StoredObject {
  readonly bytes: Buffer;
  readonly #header: Header;
  #parsed: WeakRef<UnstructuredObject> | undefined;

  private constructor(bytes: Buffer, header: Header, parsed?: UnstructuredObject) {
    this.bytes = bytes;
    this.#header = header;
    if (parsed) this.#parsed = new WeakRef(parsed);
  }

  /** Takes ownership of `object`: the caller must not change it any more. */
  static fromObject(object: UnstructuredObject, expiresAtMs?: number): StoredObject {
    const header = headerOf(object, expiresAtMs);
    return new StoredObject(Buffer.from(JSON.stringify(object), 'utf8'), header, finish(object));
  }

  static decode(encoded: Uint8Array): StoredObject {
    const buffer = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const headerLength = buffer.readUInt32BE(0);
    const bodyStart = headerLengthBytes + headerLength;
    const header = JSON.parse(buffer.toString('utf8', headerLengthBytes, bodyStart)) as Header;
    return new StoredObject(buffer.subarray(bodyStart), header);
  }

  encode(): Uint8Array {
    const headerText = JSON.stringify(this.#header);
    const headerLength = Buffer.byteLength(headerText);
    const encoded = Buffer.allocUnsafe(headerLengthBytes + headerLength + this.bytes.length);
    encoded.writeUInt32BE(headerLength, 0);
    encoded.write(headerText, headerLengthBytes, 'utf8');
    this.bytes.copy(encoded, headerLengthBytes + headerLength);
    return encoded;
  }

  /** apiVersion the bytes are in */
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
    const { u, l, o, f, d } = this.#header;
    return {
      ...(u !== undefined && { uid: u }),
      ...(l && { labels: l }),
      ...(o && { ownerReferences: o }),
      ...(f && { finalizers: f }),
      ...(d !== undefined && { deletionTimestamp: d }),
    };
  }

  /** the parsed object; shared, never to be changed */
  get object(): UnstructuredObject {
    const known = this.#parsed?.deref();
    if (known) return known;
    const parsed = finish(JSON.parse(this.bytes.toString('utf8')) as UnstructuredObject);
    this.#parsed = new WeakRef(parsed);
    return parsed;
  }
}

// Freezing costs as much as parsing, so only development and test runs pay for it.
const freezeObjects = process.env['NODE_ENV'] === 'test' || process.env['CAPSTAN_FREEZE_OBJECTS'] === '1';

function finish(object: UnstructuredObject): UnstructuredObject {
  return freezeObjects ? deepFreeze(object) : object;
}
