import { lookup } from 'node:dns';
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { anyPeer, CapstanError, checkPeerHost, guardedLookup, type PeerPolicy } from '../../machinery/index.ts';
import type { Environment } from '../config/environment.ts';
import { proxyFor } from './proxy.ts';
import type { Transport, TransportResponse } from './types.ts';

/** TLS trust and client certificate, all as PEM. */
export interface TlsSettings {
  /** CA certificates; default: those of the system */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** false accepts any certificate */
  readonly verify: boolean;
}

export interface HttpTransportOptions {
  readonly tls: TlsSettings;
  /** source of HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY */
  readonly env: Environment;
  /** maximum connections per host; default 16 */
  readonly connections?: number;
  /** which addresses may be contacted; default: any */
  readonly peers?: PeerPolicy | undefined;
  /** maximum size of a response; default 32 MiB */
  readonly maxAnswerBytes?: number | undefined;
}

/** Ten times the size of a detailed list of a thousand servers. */
const defaultMaxAnswerBytes = 32 * 1024 * 1024;

interface ConnectionLimits {
  connections: number;
  headersTimeout: number;
  bodyTimeout: number;
  keepAliveTimeout: number;
  pipelining: number;
}

/** HTTP transport to a real cloud, with keep-alive and the proxies of the environment. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const agents = new Map<string, Dispatcher>();
  const dispatcherFor = (target: URL): Dispatcher => {
    const proxy = proxyFor(target, options.env);
    // Behind a proxy the TLS server name depends on the host, so each host has its own agent.
    const key = proxy === undefined ? '' : `${proxy} ${target.host}`;
    let agent = agents.get(key);
    if (!agent) {
      agent = proxy === undefined ? directAgent(options) : proxyAgent(options, proxy, target);
      agents.set(key, agent);
    }
    return agent;
  };
  const send: Transport = async (request) => {
    const target = new URL(request.url);
    checkPeerHost(options.peers ?? anyPeer, target.hostname);
    const body = request.stream ?? request.body;
    const response = await dispatcherFor(target).request({
      origin: target.origin,
      path: target.pathname + target.search,
      method: request.method as Dispatcher.HttpMethod,
      headers: request.headers,
      ...(body !== undefined && { body: body as NonNullable<Dispatcher.DispatchOptions['body']> }),
      ...(request.signal && { signal: request.signal }),
    });
    return readResponse(response, options.maxAnswerBytes ?? defaultMaxAnswerBytes);
  };
  return Object.assign(send, {
    streams: true,
    close: async () => {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map((agent) => agent.destroy()));
    },
  });
}

async function readResponse(response: Dispatcher.ResponseData, maxBytes: number): Promise<TransportResponse> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status: response.statusCode, headers, body: await readBody(response, maxBytes) };
}

/** Reads a body up to the limit, regardless of the announced length. */
async function readBody({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > maxBytes) throw new CapstanError('CAP_ANSWER_TOO_LARGE', `an answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function common(options: HttpTransportOptions): ConnectionLimits {
  // The session enforces timeouts with the injected clock.
  return {
    connections: options.connections ?? 16,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    pipelining: 1,
  };
}

function tlsOptions({ tls }: HttpTransportOptions): Record<string, unknown> {
  return {
    minVersion: 'TLSv1.2',
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    // One file may contain both, as curl and openstacksdk allow.
    ...((tls.key ?? tls.cert) !== undefined && { key: tls.key ?? tls.cert }),
    ...(!tls.verify && { rejectUnauthorized: false }),
  };
}

function directAgent(options: HttpTransportOptions): Dispatcher {
  const guarded = options.peers && { lookup: guardedLookup(options.peers, lookup as never) as never };
  const connect = { ...tlsOptions(options), ...guarded, keepAlive: true, timeout: 10_000 };
  return new Agent({ ...common(options), connect });
}

function proxyAgent(options: HttpTransportOptions, proxy: string, target: URL): Dispatcher {
  const requestTls = { ...tlsOptions(options), servername: target.hostname };
  if (/^socks5h?:/.test(proxy)) {
    const socks = { ...common(options), requestTls };
    return new Socks5ProxyAgent(proxy, socks);
  }
  return new ProxyAgent({ ...common(options), uri: proxy, requestTls, proxyTunnel: target.protocol === 'https:' });
}
