import { deepFreeze, type UnstructuredObject } from '../../machinery/index.ts';

interface Header {
  /** apiVersion the bytes are in */
  v: string;
  /** labels, kept outside the body so that selectors need not parse objects */
  l?: Record<string, string>;
  /** milliseconds since the epoch after which the object is to be swept away */
  x?: number;
}

const headerLengthBytes = 4;

/**
 * An object as the store keeps it: its JSON bytes, shared by every response and watch event, and the parsed form made on
 * demand. The parsed form is held weakly: it lives as long as somebody (an informer, a request) uses it, so that memory
 * holds each object once, as bytes, and all users of the parsed form share one immutable instance.
 */
export class StoredObject {
  readonly bytes: Buffer;
  readonly apiVersion: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly expiresAtMs: number | undefined;
  #parsed: WeakRef<UnstructuredObject> | undefined;

  private constructor(bytes: Buffer, header: Header, parsed?: UnstructuredObject) {
    this.bytes = bytes;
    this.apiVersion = header.v;
    this.labels = header.l;
    this.expiresAtMs = header.x;
    if (parsed) this.#parsed = new WeakRef(parsed);
  }

  /** Takes ownership of `object`: the caller must not change it any more. */
  static fromObject(object: UnstructuredObject, expiresAtMs?: number): StoredObject {
    const labels = object.metadata.labels;
    const header: Header = { v: object.apiVersion };
    if (labels) header.l = labels;
    if (expiresAtMs !== undefined) header.x = expiresAtMs;
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
    const header: Header = { v: this.apiVersion };
    if (this.labels) header.l = this.labels;
    if (this.expiresAtMs !== undefined) header.x = this.expiresAtMs;
    const headerText = JSON.stringify(header);
    const headerLength = Buffer.byteLength(headerText);
    const encoded = Buffer.allocUnsafe(headerLengthBytes + headerLength + this.bytes.length);
    encoded.writeUInt32BE(headerLength, 0);
    encoded.write(headerText, headerLengthBytes, 'utf8');
    this.bytes.copy(encoded, headerLengthBytes + headerLength);
    return encoded;
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
