import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';

/** Address and credentials of a server. */
export interface Endpoint {
  host: string;
  port: number;
  /** PEM CA of the server's certificate */
  ca: string;
  cert?: string;
  key?: string;
  token?: string;
}

export interface WireRequest {
  method: string;
  path: string;
  headers?: readonly (readonly [string, string])[];
  body?: Buffer | string;
  /** end a streaming answer (a watch) after this many milliseconds */
  cutAfterMs?: number;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** ended by the client */
  cut: boolean;
}

/** A client with persistent connections that can send invalid requests. */
export interface WireClient {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

function credentials(endpoint: Endpoint): { ca: string; cert?: string; key?: string } {
  const { ca, cert, key } = endpoint;
  return { ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

function withToken(endpoint: Endpoint, request: WireRequest): readonly (readonly [string, string])[] {
  const headers = request.headers ?? [];
  return endpoint.token === undefined ? headers : [['authorization', `Bearer ${endpoint.token}`], ...headers];
}

/** HTTP/1.1 over keep-alive connections. */
export function http1Client(endpoint: Endpoint, maxSockets = 16): WireClient {
  const agent = new Agent({ keepAlive: true, maxSockets, ...credentials(endpoint) });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
        const sent = httpsRequest({
          host: endpoint.host,
          port: endpoint.port,
          method: request.method,
          path: request.path,
          agent,
          setHost: false,
        });
        let answered = false;
        try {
          sent.setHeader('host', `${endpoint.host}:${endpoint.port}`);
          for (const [name, values] of grouped(withToken(endpoint, request))) sent.setHeader(name, values);
          if (body && !sent.hasHeader('transfer-encoding') && !sent.hasHeader('content-length')) {
            sent.setHeader('content-length', body.length);
          }
        } catch (error) {
          sent.destroy();
          reject(new UnsendableRequest(String(error)));
          return;
        }
        sent.on('response', (response) => {
          answered = true;
          const chunks: Buffer[] = [];
          const finish = (cut: boolean): void => {
            clearTimeout(timer);
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), cut });
            if (cut) sent.destroy();
          };
          const endless = response.headers['content-length'] === undefined;
          const timer =
            endless && request.cutAfterMs !== undefined
              ? setTimeout(() => finish(true), request.cutAfterMs)
              : undefined;
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => finish(false));
          response.on('error', () => finish(true));
        });
        sent.on('error', (error) => {
          if (!answered) reject(error);
        });
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** The protocol cannot express the request, so nothing was sent. */
export class UnsendableRequest extends Error {
  override readonly name = 'UnsendableRequest';
}

function grouped(headers: readonly (readonly [string, string])[]): Map<string, string | string[]> {
  const all = new Map<string, string[]>();
  for (const [name, value] of headers) all.set(name, [...(all.get(name) ?? []), value]);
  return new Map([...all].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]));
}

/** HTTP/2 over one session, which is reopened after it ends. */
export function http2Client(endpoint: Endpoint): WireClient {
  let session: ClientHttp2Session | undefined;
  const open = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session;
    session = connect(`https://${endpoint.host}:${endpoint.port}`, {
      ...credentials(endpoint),
      // The unsent rest of a body stays in the session after an early answer. The default limit would soon be reached.
      maxSessionMemory: 1000,
      settings: { initialWindowSize: 4 * 1024 * 1024 },
    });
    session.on('error', () => {});
    return session;
  };
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
        let stream: ReturnType<ClientHttp2Session['request']>;
        try {
          const headers = Object.fromEntries(grouped(withToken(endpoint, request)));
          stream = open().request(
            { ':method': request.method, ':path': request.path, ...headers },
            { endStream: body === undefined },
          );
        } catch (error) {
          reject(new UnsendableRequest(String(error)));
          return;
        }
        const chunks: Buffer[] = [];
        let head: Record<string, string | string[] | undefined> | undefined;
        let timer: NodeJS.Timeout | undefined;
        let settled = false;
        const finish = (cut: boolean): void => {
          if (settled || !head) return;
          settled = true;
          clearTimeout(timer);
          resolve({ status: Number(head[':status']), headers: head, body: Buffer.concat(chunks), cut });
          if (cut) stream.close(constants.NGHTTP2_CANCEL);
        };
        stream.on('response', (received) => {
          head = received as Record<string, string | string[] | undefined>;
          if (request.cutAfterMs !== undefined && head['content-length'] === undefined) {
            timer = setTimeout(() => finish(true), request.cutAfterMs);
          }
        });
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => finish(false));
        stream.on('error', (error) => {
          if (head) finish(true);
          else reject(error);
        });
        stream.on('close', () => {
          if (head) finish(false);
          else reject(new Error(`the stream ended without an answer (code ${stream.rstCode})`));
        });
        if (body !== undefined) stream.end(body);
      }),
    close: () => session?.destroy(),
  };
}

/** Sends and expects JSON, for ordinary requests. */
export async function sendJson(
  client: WireClient,
  method: string,
  path: string,
  body?: unknown,
  headers: readonly (readonly [string, string])[] = [],
): Promise<{ status: number; value: JsonAnswer; headers: WireAnswer['headers'] }> {
  const answer = await client.send({
    method,
    path,
    headers: [
      ...(headers.some(([name]) => name === 'accept') ? [] : [jsonAccept]),
      ...(body === undefined || headers.some(([name]) => name === 'content-type') ? [] : [jsonContent]),
      ...headers,
    ],
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, value: JSON.parse(answer.body.toString()) as JsonAnswer, headers: answer.headers };
}

const jsonAccept = ['accept', 'application/json'] as const;
const jsonContent = ['content-type', 'application/json'] as const;

/** The fields of an answer used by tests. */
// biome-ignore lint/suspicious/noExplicitAny: contents differ by request
export type JsonAnswer = any;
