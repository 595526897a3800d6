import http2 from 'node:http2';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import {
  asTyped,
  asUnstructured,
  isJsonObject,
  type JsonObject,
  type UnstructuredObject,
} from '../../machinery/index.ts';

export interface Endpoint {
  host: string;
  port: number;
  /** PEM of the CA of the server's certificate */
  ca: string;
  cert?: string;
  key?: string;
  token?: string;
}

export type Protocol = 'h1' | 'h2';
export type Headers = Readonly<Record<string, string>>;

/** Status and headers of a response; the body is a stream. */
export interface AnswerHead {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  stream: Readable;
}

/** A complete answer. */
export class Answer {
  readonly status: number;
  readonly headers: AnswerHead['headers'];
  /** bytes as sent, including gzip */
  readonly bytes: Buffer;

  constructor(head: AnswerHead, bytes: Buffer) {
    this.status = head.status;
    this.headers = head.headers;
    this.bytes = bytes;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  get text(): string {
    const packed = this.header('content-encoding') === 'gzip';
    return (packed ? gunzipSync(this.bytes) : this.bytes).toString('utf8');
  }

  /** the parsed JSON body; throws for other content */
  get body(): JsonObject {
    const value: unknown = JSON.parse(this.text);
    if (!isJsonObject(value)) throw new Error(`the answer is no JSON object: ${this.text}`);
    return value;
  }

  get object(): UnstructuredObject {
    return asUnstructured(this.body);
  }

  get items(): UnstructuredObject[] {
    return asTyped<UnstructuredObject[]>(this.body['items']!);
  }

  get warnings(): string[] {
    const value = this.headers['warning'];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  }
}

/** Raw requests over one TLS connection (h2) or several keep-alive connections (h1). */
export interface Connection {
  send(method: string, path: string, headers: Headers, body?: string | Uint8Array): Promise<AnswerHead>;
  close(): void;
}

export function connect(endpoint: Endpoint, protocol: Protocol = 'h2'): Connection {
  return protocol === 'h2' ? connectHttp2(endpoint) : connectHttp1(endpoint);
}

function tlsOptions(endpoint: Endpoint): { ca: string; cert?: string; key?: string } {
  const { ca, cert, key } = endpoint;
  return { ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

function withToken(endpoint: Endpoint, headers: Headers): Record<string, string> {
  return { ...(endpoint.token !== undefined && { authorization: `Bearer ${endpoint.token}` }), ...headers };
}

function connectHttp1(endpoint: Endpoint): Connection {
  const agent = new https.Agent({ keepAlive: true, ...tlsOptions(endpoint), ALPNProtocols: ['http/1.1'] });
  return {
    send: (method, path, headers, body) =>
      new Promise((resolve, reject) => {
        const { host, port } = endpoint;
        const sized = body !== undefined && !('transfer-encoding' in headers);
        const all = { ...(sized && { 'content-length': String(Buffer.byteLength(body)) }), ...headers };
        const request = https.request({ host, port, method, path, agent, headers: withToken(endpoint, all) });
        request.on('error', reject);
        request.on('response', (response) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, stream: response }),
        );
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

function connectHttp2(endpoint: Endpoint): Connection {
  let session: http2.ClientHttp2Session | undefined;
  const open = (): http2.ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session;
    session = http2.connect(`https://${endpoint.host}:${endpoint.port}`, {
      ...tlsOptions(endpoint),
      settings: { initialWindowSize: 4 * 1024 * 1024 },
      // The server decides about oversized headers.
      maxSendHeaderBlockLength: 1024 * 1024,
    });
    session.on('error', () => {});
    return session;
  };
  return {
    send: (method, path, headers, body) =>
      new Promise((resolve, reject) => {
        const stream = open().request(
          { ':method': method, ':path': path, ...withToken(endpoint, headers) },
          { endStream: body === undefined },
        );
        stream.on('error', reject);
        stream.on('close', () => reject(new Error('the stream was closed before it was answered')));
        stream.on('response', (answer) => resolve({ status: answer[':status'] ?? 0, headers: answer, stream }));
        if (body !== undefined) stream.end(body);
      }),
    close: () => session?.destroy(),
  };
}

export async function readAnswer(head: AnswerHead): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of head.stream) chunks.push(chunk as Buffer);
  return new Answer(head, Buffer.concat(chunks));
}
