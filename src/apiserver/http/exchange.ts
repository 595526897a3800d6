import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { gzip } from 'node:zlib';
import { ApiStatusError, type Status, statusError } from '../../machinery/index.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

const gzipThreshold = 128 * 1024;
const maxWarningsBytes = 4 * 1024;
const maxWarnings = 1000;

/** Shared by all requests without a query; nobody changes a query. */
const noQuery = new URLSearchParams();

/** One HTTP request and its answer, the same for HTTP/1.1 and HTTP/2. */
export class Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly auditId: string;
  readonly #warnings = new Set<string>();
  #abort: AbortController | undefined;
  /** set for the audit log and metrics once the answer is on its way */
  statusCode = 0;

  constructor(request: HttpRequest, response: HttpResponse, auditId: string) {
    this.request = request;
    this.response = response;
    this.auditId = auditId;
    this.method = request.method ?? 'GET';
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  }

  /** The client has gone away, or everything has been said. */
  get gone(): boolean {
    const { response } = this;
    return 'stream' in response ? response.stream.destroyed : response.destroyed;
  }

  /** Aborts when the client goes away. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      if (this.gone) abort.abort();
      else this.response.once('close', () => abort.abort());
    }
    return this.#abort.signal;
  }

  warn(text: string): void {
    if (this.#warnings.size < maxWarnings) this.#warnings.add(text);
  }

  /** Status line and headers; called once per exchange. */
  writeHead(code: number, headers: Record<string, string | number>): void {
    this.statusCode = code;
    const all: Record<string, string | number | string[]> = {
      'audit-id': this.auditId,
      'cache-control': 'no-cache, private',
      ...headers,
    };
    const warnings = this.#warningHeaders();
    if (warnings.length > 0) all['warning'] = warnings;
    // The two response classes agree on this call but not on its overloads.
    (this.response as ServerResponse).writeHead(code, all);
  }

  #warningHeaders(): string[] {
    const headers: string[] = [];
    let size = 0;
    for (const text of this.#warnings) {
      const header = `299 - "${quoteWarning(text)}"`;
      size += header.length;
      if (size > maxWarningsBytes) break;
      headers.push(header);
    }
    return headers;
  }

  send(code: number, contentType: string, body: Buffer | string, headers: Record<string, string | number> = {}): void {
    this.statusCode = code;
    if (this.method === 'HEAD') {
      this.writeHead(code, { ...headers, 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
      this.response.end();
      return;
    }
    if (body.length >= gzipThreshold && (this.header('accept-encoding') ?? '').includes('gzip')) {
      // Level 1: the cheapest that still shrinks JSON several times over.
      gzip(body, { level: 1 }, (error, packed) => {
        if (error) return this.#sendPlain(code, contentType, body, headers);
        this.#sendPlain(code, contentType, packed, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
      });
      return;
    }
    this.#sendPlain(code, contentType, body, headers);
  }

  #sendPlain(code: number, contentType: string, body: Buffer | string, headers: Record<string, string | number>): void {
    if (this.response.writableEnded || this.gone) return;
    const length = Buffer.byteLength(body);
    this.writeHead(code, { ...headers, 'content-type': contentType, 'content-length': length });
    // As many bytes as characters means ASCII, which goes out as it is; UTF-8 would be converted slowly.
    const encoding = typeof body === 'string' && length === body.length ? 'latin1' : 'utf8';
    this.response.end(body as string, encoding);
  }

  sendJson(code: number, value: unknown, headers: Record<string, string | number> = {}): void {
    const text = this.pretty ? `${JSON.stringify(value, undefined, 2)}\n` : `${JSON.stringify(value)}\n`;
    this.send(code, 'application/json', text, headers);
  }

  sendText(code: number, text: string): void {
    this.send(code, 'text/plain; charset=utf-8', text, { 'x-content-type-options': 'nosniff' });
  }

  sendStatus(status: Status): void {
    if (this.response.headersSent) {
      this.response.destroy();
      return;
    }
    const retryAfter = status.details?.retryAfterSeconds;
    this.sendJson(status.code, status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  }

  /** Curl and browsers get readable JSON, programs compact JSON, unless `pretty` says otherwise. */
  get pretty(): boolean {
    const asked = this.query.get('pretty');
    if (asked !== null) return asked !== 'false' && asked !== '0';
    const agent = this.header('user-agent') ?? '';
    return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla');
  }
}

/** Header values are bytes: text beyond ASCII goes as its UTF-8 bytes, one per character, as kube-apiserver sends it. */
function quoteWarning(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: header values must not carry control characters
  const quoted = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/[\\"]/g, '\\$&');
  return Buffer.from(quoted, 'utf8').toString('latin1');
}

/** Any throw becomes the Status a client understands; unexpected ones say nothing about our inside. */
export function toStatusError(error: unknown, onUnexpected: (error: unknown) => void): ApiStatusError {
  if (error instanceof ApiStatusError) return error;
  onUnexpected(error);
  return statusError.internal('the server failed to handle the request; see its log');
}
