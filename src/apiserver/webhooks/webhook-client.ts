import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Agent, buildConnector } from 'undici';
import { type JsonObject, jsonText, parseJson } from '../../machinery/index.ts';
import { webhookFailure } from './failure-text.ts';

/** Address of a webhook in webhook configurations and CustomResourceDefinitions. */
export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** base64 PEM */
  caBundle?: string;
}

export interface ServiceAddress {
  host: string;
  port: number;
}

/** Resolves a Service to a reachable address, or returns why it cannot. */
export type ServiceResolver = (namespace: string, name: string, port: number) => ServiceAddress | { fault: string };

/** Opens a byte stream to a Service backend; throws if it is unreachable. */
export type WebhookConnector = (host: string, port: number) => Duplex;

/** The Service of a webhook has no backends. */
export class NobodyListensError extends Error {}

/** Loaded on the first call, because most servers never call a webhook. */
const loadUndici = (): Promise<typeof import('undici')> => import('undici');

const maxAnswerBytes = 3 * 1024 * 1024;

/** Client of admission and conversion webhooks: verified HTTPS only, with one connection pool per destination. */
export class WebhookClient {
  readonly #resolve: ServiceResolver;
  readonly #connect: WebhookConnector | undefined;
  readonly #agents = new Map<string, Agent>();

  /** `connect` dials Service backends; default: the network of this host */
  constructor(resolve: ServiceResolver, connect?: WebhookConnector) {
    this.#resolve = resolve;
    this.#connect = connect;
  }

  /** Posts a review and returns the response; throws an Error with address and failure. */
  async post(config: WebhookClientConfig, review: JsonObject, timeoutMs: number, query = ''): Promise<JsonObject> {
    const { url, servername, shown } = this.#address(config, query);
    try {
      const isService = config.url === undefined;
      const agent = await this.#agent(config.caBundle ?? '', servername, isService);
      const { request } = await loadUndici();
      const response = await request(url, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: jsonText(review),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await readLimited(response.body);
      if (response.statusCode !== 200) {
        throw new Error(`the server answered ${response.statusCode}: ${text.slice(0, 200)}`);
      }
      const answer: unknown = parseJson(text);
      if (typeof answer !== 'object' || answer === null) throw new Error('the answer is not an object');
      return answer as JsonObject;
    } catch (error) {
      throw new Error(`Post "${shown}": ${webhookFailure(error)}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  #address(config: WebhookClientConfig, query: string): { url: string; servername: string; shown: string } {
    if (config.url !== undefined) {
      const url = new URL(config.url);
      if (url.protocol !== 'https:') throw new Error(`webhook url ${config.url} is not https`);
      // TLS server names are host names, never IP addresses.
      const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : '';
      return { url: config.url + query, servername, shown: config.url + query };
    }
    const { service } = config;
    if (!service) throw new Error('the webhook names neither a url nor a service');
    const port = service.port ?? 443;
    const servername = `${service.name}.${service.namespace}.svc`;
    const path = `/${(service.path ?? '').replace(/^\//, '')}${query}`;
    const shown = `https://${servername}:${port}${path}`;
    const place = this.#resolve(service.namespace, service.name, port);
    if ('fault' in place) throw new NobodyListensError(`Post "${shown}": ${place.fault}`);
    const host = place.host.includes(':') ? `[${place.host}]` : place.host;
    return { url: `https://${host}:${place.port}${path}`, servername, shown };
  }

  async #agent(caBundle: string, servername: string, isService: boolean): Promise<Agent> {
    const { Agent } = await loadUndici();
    const key = `${isService}\n${servername}\n${caBundle}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      const ca = caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
      const tls = { ...(servername !== '' && { servername }), ...(ca !== undefined && { ca }) };
      const way = isService ? this.#connect : undefined;
      agent = new Agent({
        connect: way === undefined ? tls : connectOver(way, tls),
        keepAliveTimeout: 30_000,
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** Starts TLS over a given stream. */
function connectOver(way: WebhookConnector, tls: { servername?: string; ca?: string }): buildConnector.connector {
  return ({ hostname, port }, callback) => {
    let isTold = false;
    const tell = (error: Error | null, socket: TLSSocket | null): void => {
      if (isTold) return;
      isTold = true;
      if (socket) callback(null, socket);
      else callback(error ?? new Error('the connection ended'), null);
    };
    try {
      const stream = way(hostname.replace(/^\[|\]$/g, ''), Number(port || 443));
      const socket = connectTls({ ...tls, socket: stream });
      socket.once('secureConnect', () => tell(null, socket));
      socket.once('error', (error) => tell(error, null));
      socket.once('close', () => tell(null, null));
    } catch (error) {
      tell(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
