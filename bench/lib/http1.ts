import type { TLSSocket } from 'node:tls';
import { type Answer, type Connection, type Endpoint, openSocket } from './connection.ts';

/** HTTP/1.1 with keep-alive, one request at a time. */
export async function openHttp1(endpoint: Endpoint): Promise<Connection> {
  return new Http1Connection(await openSocket(endpoint, 'http/1.1'), endpoint);
}

type Body = { type: 'sized'; left: number } | { type: 'chunked'; left: number };

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  onData: ((bytes: Buffer) => void) | undefined;
}

const empty = Buffer.alloc(0);
const headEnd = Buffer.from('\r\n\r\n');

class Http1Connection implements Connection {
  readonly #socket: TLSSocket;
  readonly #fixedHead: string;
  #pending: Pending | undefined;
  #rest: Buffer = empty;
  #status = 0;
  /** rest of the answer being read; undefined before its header is complete */
  #body: Body | undefined;
  #parts: Buffer[] = [];
  #failure: Error | undefined;

  constructor(socket: TLSSocket, endpoint: Endpoint) {
    this.#socket = socket;
    const headers = Object.entries(endpoint.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#fixedHead = ` HTTP/1.1\r\nhost: ${endpoint.host}:${endpoint.port}\r\naccept: application/json\r\nuser-agent: bench/1\r\n${headers.join('')}`;
    socket.on('data', (bytes: Buffer) => this.#onBytes(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  send(method: string, path: string, body?: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => this.#start(method, path, body, { resolve, reject, onData: undefined }));
  }

  async stream(path: string, onData: (bytes: Buffer) => void): Promise<void> {
    const { status, body } = await new Promise<Answer>((resolve, reject) =>
      this.#start('GET', path, undefined, { resolve, reject, onData }),
    );
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.toString()}`);
  }

  close(): void {
    this.#pending = undefined;
    this.#failure = new Error('closed');
    this.#socket.destroy();
  }

  #start(method: string, path: string, body: Buffer | undefined, pending: Pending): void {
    if (this.#failure) return pending.reject(this.#failure);
    this.#pending = pending;
    if (!body) {
      this.#socket.write(`${method} ${path}${this.#fixedHead}\r\n`, 'latin1');
      return;
    }
    const head = `${method} ${path}${this.#fixedHead}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    const message = Buffer.allocUnsafe(head.length + body.length);
    message.write(head, 0, 'latin1');
    message.set(body, head.length);
    this.#socket.write(message);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }

  #onBytes(bytes: Buffer): void {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    for (;;) {
      const before = rest.length;
      rest = this.#body ? this.#readBody(rest, this.#body) : this.#readHead(rest);
      if (rest.length === before || rest.length === 0) break;
    }
    this.#rest = rest;
  }

  #readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf(headEnd);
    if (end < 0) return bytes;
    const head = bytes.toString('latin1', 0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    const at = head.indexOf('\ncontent-length:');
    this.#body =
      at < 0 ? { type: 'chunked', left: 0 } : { type: 'sized', left: Number.parseInt(head.slice(at + 16), 10) };
    const pending = this.#pending;
    if (pending?.onData) pending.resolve({ status: this.#status, body: empty });
    if (this.#body.type === 'sized' && this.#body.left === 0) this.#finish();
    return bytes.subarray(end + 4);
  }

  #readBody(bytes: Buffer, body: Body): Buffer {
    if (body.type === 'sized') {
      const taken = Math.min(body.left, bytes.length);
      this.#take(bytes.subarray(0, taken));
      body.left -= taken;
      if (body.left === 0) this.#finish();
      return bytes.subarray(taken);
    }
    if (body.left > 0) {
      const taken = Math.min(body.left, bytes.length);
      this.#take(bytes.subarray(0, taken));
      body.left -= taken;
      return bytes.subarray(taken);
    }
    // The line with a chunk's size is preceded by the line break of the previous chunk.
    const start = bytes[0] === 0x0d ? 2 : 0;
    const end = bytes.indexOf('\r\n', start);
    if (end < 0) return bytes;
    body.left = Number.parseInt(bytes.toString('latin1', start, end), 16);
    if (body.left > 0) return bytes.subarray(end + 2);
    if (bytes.length < end + 4) {
      return bytes;
    }
    this.#finish();
    return bytes.subarray(end + 4);
  }

  #take(bytes: Buffer): void {
    const onData = this.#pending?.onData;
    if (onData) onData(bytes);
    else this.#parts.push(bytes);
  }

  #finish(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#body = undefined;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: this.#status, body: parts.length === 1 ? parts[0]! : Buffer.concat(parts) });
  }
}
