import type { Readable, Writable } from 'node:stream';
import { gzip } from 'node:zlib';
import { ApiStatusError, jsonText, type Status, statusError } from '../../machinery/index.ts';
import type { RequestFlow } from '../flow/index.ts';
import type { Representation } from './media-types.ts';
import type { ResponseHeaders, Wire } from './wire.ts';

const gzipThreshold = 128 * 1024;
const maxWarningsBytes = 4 * 1024;
const maxWarnings = 1000;

/** Shared by all requests without a query; must not be modified. */
const noQuery = new URLSearchParams();

/** An HTTP request and its response, for both HTTP/1.1 and HTTP/2. */
export class Exchange {
  readonly wire: Wire;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly auditId: string;
  #warnings: Set<string> | undefined;
  #abort: AbortController | undefined;
  /** negotiated format of the response */
  representation: Representation | undefined;
  /** capacity that the request holds; undefined until the sender is known */
  flow: RequestFlow | undefined;
  /** resolves when a response that is being compressed has been sent */
  packing: Promise<void> | undefined;
  /** status code for the audit log and metrics, set once the response is sent */
  statusCode = 0;

  constructor(wire: Wire, auditId: string) {
    this.wire = wire;
    this.auditId = auditId;
    this.method = wire.method;
    const { url } = wire;
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
  }

  /** the body of the request */
  get input(): Readable {
    return this.wire.input;
  }

  /** the body of the answer */
  get output(): Writable {
    return this.wire.output;
  }

  header(name: string): string | undefined {
    const value = this.wire.headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  }

  /** true when the client has disconnected or the response is complete */
  get gone(): boolean {
    return this.wire.output.destroyed;
  }

  /** Aborts when the client disconnects. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      if (this.gone) abort.abort();
      else this.output.once('close', () => abort.abort());
    }
    return this.#abort.signal;
  }

  warn(text: string): void {
    this.#warnings ??= new Set();
    if (this.#warnings.size < maxWarnings) this.#warnings.add(text);
  }

  /** Writes status line and headers; called once per exchange. */
  writeHead(code: number, headers: ResponseHeaders): void {
    this.statusCode = code;
    const all: ResponseHeaders = { 'audit-id': this.auditId, 'cache-control': 'no-cache, private', ...headers };
    if (this.#warnings) all['warning'] = warningHeaders(this.#warnings);
    this.wire.writeHead(code, all);
  }

  end(): void {
    this.output.end();
  }

  send(code: number, contentType: string, body: Buffer | string, headers: ResponseHeaders = {}): void {
    this.statusCode = code;
    if (this.method === 'HEAD') {
      this.writeHead(code, { ...headers, 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
      this.end();
      return;
    }
    if (body.length >= gzipThreshold && (this.header('accept-encoding') ?? '').includes('gzip')) {
      // Level 1 is the cheapest and still shrinks JSON several times.
      this.packing = new Promise((resolve) => {
        gzip(body, { level: 1 }, (error, packed) => {
          const encoded = { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
          try {
            if (error) this.#sendPlain(code, contentType, body, headers);
            else this.#sendPlain(code, contentType, packed, encoded);
          } catch {
            // Only the connection has to be closed, so that the client does not hang.
            this.output.destroy();
          }
          resolve();
        });
      });
      return;
    }
    this.#sendPlain(code, contentType, body, headers);
  }

  #sendPlain(code: number, contentType: string, body: Buffer | string, headers: ResponseHeaders): void {
    const { output } = this.wire;
    if (output.writableEnded || output.destroyed) return;
    const length = Buffer.byteLength(body);
    this.writeHead(code, { ...headers, 'content-type': contentType, 'content-length': length });
    // Equal numbers of bytes and characters mean ASCII. latin1 then avoids the slow UTF-8 conversion.
    const encoding = typeof body === 'string' && length === body.length ? 'latin1' : 'utf8';
    output.end(body, encoding);
  }

  sendJson(code: number, value: unknown, headers: ResponseHeaders = {}): void {
    const text = `${jsonText(value, this.pretty ? 2 : undefined)}\n`;
    this.send(code, 'application/json', text, headers);
  }

  sendText(code: number, text: string): void {
    this.send(code, 'text/plain; charset=utf-8', text, { 'x-content-type-options': 'nosniff' });
  }

  sendStatus(status: Status): void {
    if (this.wire.headersSent) {
      this.output.destroy();
      return;
    }
    const retryAfter = status.details?.retryAfterSeconds;
    this.sendJson(status.code, status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  }

  /** curl and browsers get indented JSON and programs compact JSON, unless `pretty` is given. */
  get pretty(): boolean {
    const asked = this.query.get('pretty');
    if (asked !== null) return asked !== 'false' && asked !== '0';
    const agent = this.header('user-agent') ?? '';
    return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla');
  }
}

function warningHeaders(warnings: Iterable<string>): string[] {
  const headers: string[] = [];
  let size = 0;
  for (const text of warnings) {
    const header = `299 - "${quoteWarning(text)}"`;
    size += header.length;
    if (size > maxWarningsBytes) break;
    headers.push(header);
  }
  return headers;
}

/** Header values are bytes. Like kube-apiserver, sends non-ASCII text as UTF-8, one byte per character. */
function quoteWarning(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: header values must not carry control characters
  const quoted = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/[\\"]/g, '\\$&');
  return Buffer.from(quoted, 'utf8').toString('latin1');
}

/** Converts any error to a Status. Unexpected errors reveal no internals. */
export function toStatusError(error: unknown, onUnexpected: (error: unknown) => void): ApiStatusError {
  if (error instanceof ApiStatusError) return error;
  onUnexpected(error);
  return statusError.internal('the server failed to handle the request; see its log');
}
