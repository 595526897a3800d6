import type { TLSSocket } from 'node:tls';
import { type Answer, type Connection, type Endpoint, openSocket } from './connection.ts';

/** HTTP/2 with any number of parallel requests, like client-go over its single connection. */
export async function openHttp2(endpoint: Endpoint): Promise<Connection> {
  const socket = await openSocket(endpoint, 'h2');
  const connection = new Http2Connection(socket, endpoint);
  await connection.ready;
  return connection;
}

const frame = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const flag = { endStream: 1, ack: 1, endHeaders: 4 };
const setting = { headerTableSize: 1, enablePush: 2, initialWindow: 4 };
const largestWindow = 2 ** 31 - 1;
const largestFrame = 16_384;

interface Stream {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  onData: ((bytes: Buffer) => void) | undefined;
  status: number;
  parts: Buffer[];
}

interface Waiting {
  headers: Buffer;
  body: Buffer;
  stream: Stream;
}

class Http2Connection implements Connection {
  readonly ready: Promise<void>;
  readonly #socket: TLSSocket;
  /** headers equal in every request: literal in the first, later by index in the server's table */
  readonly #firstHeaders: Buffer;
  readonly #fixedHeaders: Buffer;
  readonly #streams = new Map<number, Stream>();
  /** requests that wait for the server's flow control */
  readonly #waiting: Waiting[] = [];
  #nextId = 1;
  #sendWindow = 65_535;
  #received = 0;
  #rest: Buffer = Buffer.alloc(0);
  #failure: Error | undefined;
  #onReady: () => void = () => {};

  constructor(socket: TLSSocket, endpoint: Endpoint) {
    this.#socket = socket;
    const fixed = Object.entries({
      ':authority': `${endpoint.host}:${endpoint.port}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'bench/1',
      ...endpoint.headers,
    });
    this.#firstHeaders = Buffer.concat([httpsScheme, ...fixed.map(([name, value]) => remembered(name, value))]);
    // The newest entry of the dynamic table has the lowest index.
    this.#fixedHeaders = Buffer.concat([
      httpsScheme,
      Buffer.from(fixed.map((_, i) => indexed(firstDynamic + fixed.length - 1 - i))),
    ]);
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    socket.on('data', (bytes: Buffer) => this.#onBytes(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    // Disables the dynamic table for answers, so that they can be decoded without state.
    const settings = Buffer.alloc(18);
    const entries: [number, number][] = [
      [setting.headerTableSize, 0],
      [setting.enablePush, 0],
      [setting.initialWindow, largestWindow],
    ];
    for (const [i, [id, value]] of entries.entries()) {
      settings.writeUInt16BE(id, i * 6);
      settings.writeUInt32BE(value, i * 6 + 2);
    }
    this.#write(frame.settings, 0, 0, settings);
    this.#widen(largestWindow - 65_535);
  }

  send(method: string, path: string, body?: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) =>
      this.#start(method, path, body, { resolve, reject, onData: undefined, status: 0, parts: [] }),
    );
  }

  async stream(path: string, onData: (bytes: Buffer) => void): Promise<void> {
    const { status, body } = await new Promise<Answer>((resolve, reject) =>
      this.#start('GET', path, undefined, { resolve, reject, onData, status: 0, parts: [] }),
    );
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.toString()}`);
  }

  close(): void {
    this.#failure = new Error('closed');
    this.#streams.clear();
    this.#socket.destroy();
  }

  #start(method: string, path: string, body: Buffer | undefined, stream: Stream): void {
    if (this.#failure) return stream.reject(this.#failure);
    const fixed = this.#nextId === 1 && this.#waiting.length === 0 ? this.#firstHeaders : this.#fixedHeaders;
    const start = [methodField(method), plain(':path', path), fixed];
    // Go's client also sends content-length for bodies in memory.
    if (body) start.push(plain('content-length', String(body.length)));
    const headers = Buffer.concat(start);
    if (!body) {
      const id = this.#open(stream);
      this.#write(frame.headers, flag.endHeaders | flag.endStream, id, headers);
      return;
    }
    if (this.#waiting.length > 0 || body.length > this.#sendWindow) this.#waiting.push({ headers, body, stream });
    else this.#sendWithBody(headers, body, stream);
  }

  #open(stream: Stream): number {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, stream);
    return id;
  }

  #sendWithBody(headers: Buffer, body: Buffer, stream: Stream): void {
    const id = this.#open(stream);
    this.#sendWindow -= body.length;
    const pieces: Buffer[] = [frameHead(headers.length, frame.headers, flag.endHeaders, id), headers];
    for (let at = 0; at < body.length; at += largestFrame) {
      const piece = body.subarray(at, at + largestFrame);
      pieces.push(
        frameHead(piece.length, frame.data, at + largestFrame >= body.length ? flag.endStream : 0, id),
        piece,
      );
    }
    this.#socket.write(Buffer.concat(pieces));
  }

  #write(type: number, flags: number, id: number, payload: Buffer): void {
    this.#socket.write(Buffer.concat([frameHead(payload.length, type, flags, id), payload]));
  }

  #widen(by: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(by);
    this.#write(frame.windowUpdate, 0, 0, payload);
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const { reject } of this.#streams.values()) reject(error);
    for (const { stream } of this.#waiting) stream.reject(error);
    this.#streams.clear();
  }

  #onBytes(bytes: Buffer): void {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    let at = 0;
    while (all.length - at >= 9) {
      const end = at + 9 + all.readUIntBE(at, 3);
      if (all.length < end) break;
      this.#onFrame(all[at + 3]!, all[at + 4]!, all.readUInt32BE(at + 5) & largestWindow, all.subarray(at + 9, end));
      at = end;
    }
    this.#rest = all.subarray(at);
  }

  #onFrame(type: number, flags: number, id: number, payload: Buffer): void {
    const stream = this.#streams.get(id);
    switch (type) {
      case frame.data:
        this.#count(payload.length);
        if (stream?.onData && stream.status === 200) stream.onData(payload);
        else stream?.parts.push(payload);
        break;
      case frame.headers:
        if (stream?.status !== 0) break;
        stream.status = decodeStatus(payload);
        if (stream.onData && stream.status === 200) stream.resolve({ status: 200, body: payload });
        break;
      case frame.reset:
        this.#streams.delete(id);
        stream?.reject(new Error(`the server reset the stream, code ${payload.readUInt32BE(0)}`));
        return;
      case frame.settings:
        if (flags & flag.ack) break;
        this.#write(frame.settings, flag.ack, 0, Buffer.alloc(0));
        this.#onReady();
        break;
      case frame.ping:
        if (!(flags & flag.ack)) this.#write(frame.ping, flag.ack, 0, payload);
        return;
      case frame.goAway:
        this.#fail(new Error(`the server ended the session, code ${payload.readUInt32BE(4)}`));
        return;
      case frame.windowUpdate:
        if (id === 0) this.#onWindow(payload.readUInt32BE(0));
        return;
    }
    if (!stream || (type !== frame.data && type !== frame.headers) || !(flags & flag.endStream)) return;
    this.#streams.delete(id);
    const { parts, status } = stream;
    stream.resolve({ status, body: parts.length === 1 ? parts[0]! : Buffer.concat(parts) });
  }

  #count(bytes: number): void {
    this.#received += bytes;
    if (this.#received < 256 * 1024 * 1024) return;
    this.#widen(this.#received);
    this.#received = 0;
  }

  #onWindow(more: number): void {
    this.#sendWindow += more;
    while (this.#waiting.length > 0 && this.#waiting[0]!.body.length <= this.#sendWindow) {
      const { headers, body, stream } = this.#waiting.shift()!;
      this.#sendWithBody(headers, body, stream);
    }
  }
}

function frameHead(length: number, type: number, flags: number, id: number): Buffer {
  const head = Buffer.allocUnsafe(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return head;
}

/** Entries of HPACK's static table used by requests. */
const staticTable: Readonly<Record<string, number>> = {
  ':authority': 1,
  ':method': 2,
  ':path': 4,
  accept: 19,
  'content-length': 28,
  authorization: 23,
  'content-type': 31,
  'user-agent': 58,
};
const firstDynamic = 62;

/** Encodes an indexed field. */
function indexed(entry: number): number {
  return 0x80 | entry;
}

const httpsScheme = Buffer.from([indexed(7)]);

/** Encodes a field that is not added to a table. */
function plain(name: string, value: string): Buffer {
  return field(0x00, 15, name, value);
}

/**
 * Encodes a field that is added to the server's dynamic table, for later requests. Every server has room for these few.
 */
function remembered(name: string, value: string): Buffer {
  return field(0x40, 63, name, value);
}

/** `pattern` is the prefix of the first byte, `most` the largest number in the rest of it. */
function field(pattern: number, most: number, name: string, value: string): Buffer {
  const entry = staticTable[name] ?? 0;
  const number = entry < most ? [pattern | entry] : [pattern | most, entry - most];
  return Buffer.concat([Buffer.from(number), ...(entry === 0 ? [text(name)] : []), text(value)]);
}

const methodFields = new Map<string, Buffer>([
  ['GET', Buffer.from([indexed(2)])],
  ['POST', Buffer.from([indexed(3)])],
]);

function methodField(method: string): Buffer {
  let known = methodFields.get(method);
  if (!known) {
    known = plain(':method', method);
    methodFields.set(method, known);
  }
  return known;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length: number[] = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** Status codes in HPACK's static table, from index 8 on. */
const indexedStatus = [200, 204, 206, 304, 400, 404, 500];

/** Decodes only `:status`, which is always the first header. */
export function decodeStatus(block: Buffer): number {
  let at = 0;
  while ((block[at]! & 0xe0) === 0x20) at++; // dynamic table size updates
  const first = block[at]!;
  if (first & 0x80) return indexedStatus[(first & 0x7f) - 8] ?? 0;
  const length = block[at + 1]!;
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f));
  if (!(length & 0x80)) return Number(value.toString('latin1'));
  const coded = value.readUIntBE(0, value.length);
  let status = knownStatus.get(coded);
  if (status === undefined) {
    status = Number(decodeDigits(value));
    knownStatus.set(coded, status);
  }
  return status;
}

const knownStatus = new Map<number, number>();

/** Decodes Huffman-coded digits: 0, 1, 2 take five bits (the digit), 3 to 9 take six (the digit plus 22). */
function decodeDigits(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  let digits = '';
  for (let at = 0; at + 5 <= bits.length && digits.length < 3; ) {
    const five = Number.parseInt(bits.slice(at, at + 5), 2);
    if (five <= 2) {
      digits += five;
      at += 5;
    } else {
      digits += Number.parseInt(bits.slice(at, at + 6), 2) - 22;
      at += 6;
    }
  }
  return digits;
}
