import { lookup } from 'node:dns';
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { anyPeer, CapstanError, checkPeerHost, guardedLookup, type PeerPolicy } from '../../machinery/index.ts';
import type { Environment } from '../config/environment.ts';
import { proxyFor } from './proxy.ts';
import type { Transport, TransportResponse } from './types.ts';

/** How far a server is trusted, and how it is convinced of us. All PEM. */
export interface TlsSettings {
  /** certificate authorities; the system's when absent */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** false takes any certificate */
  readonly verify: boolean;
}

export interface HttpTransportOptions {
  readonly tls: TlsSettings;
  /** where HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY are looked up */
  readonly env: Environment;
  /** connections kept per host at most; default 16 */
  readonly connections?: number;
  /** which addresses may be asked; default: any */
  readonly peers?: PeerPolicy | undefined;
  /** the largest answer that is taken; default 32 MiB */
  readonly maxAnswerBytes?: number | undefined;
}

/** A thousand servers with all their details are a tenth of it. */
const defaultMaxAnswerBytes = 32 * 1024 * 1024;

interface ConnectionLimits {
  connections: number;
  headersTimeout: number;
  bodyTimeout: number;
  keepAliveTimeout: number;
  pipelining: number;
}

/** Speaks HTTP to a real cloud: connections are kept, proxies of the environment used. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const agents = new Map<string, Dispatcher>();
  const dispatcherFor = (target: URL): Dispatcher => {
    const proxy = proxyFor(target, options.env);
    // Behind a proxy the TLS server name belongs to the host, so each host has its own agent.
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

/** Never holds more than the limit, whatever the server says of its length. */
async function readBody({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // leaving the loop ends the connection
    if (bytes > maxBytes) throw new CapstanError('CAP_ANSWER_TOO_LARGE', `an answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function common(options: HttpTransportOptions): ConnectionLimits {
  // Time limits are the session's, on the injected clock.
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
    // One file may hold both, as it may for curl and openstacksdk.
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
