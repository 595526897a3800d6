import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, request } from 'undici';
import type { ExtensionClientConfig } from '../../../api/index.ts';
import {
  anyPeer,
  type Clock,
  checkPeerHost,
  errorMessage,
  guardedLookup,
  type JsonValue,
  jsonText,
  type PeerPolicy,
  parseJson,
  trimTrailing,
} from '../../../machinery/index.ts';
import { HookError } from '../../shared/index.ts';

/** Finds a reachable address of a Service port. */
export type FindService = (
  service: { namespace: string; name: string; port: number },
  signal: AbortSignal,
) => Promise<{ host: string; port: number }>;

export interface ExtensionTransportOptions {
  clock: Clock;
  findService: FindService;
  /** addresses that may be contacted; default any */
  peers?: PeerPolicy;
}

export interface ExtensionPost {
  /** name of the ExtensionConfig; every extension has its own connections */
  extension: string;
  config: ExtensionClientConfig;
  /** below the path in the client config */
  path: string;
  timeoutMs: number;
  body: JsonValue;
  signal: AbortSignal;
}

/** The extension server was unreachable or returned no valid response; the failure policy applies. */
export class ExtensionUnreachableError extends HookError {
  readonly isTimeout: boolean;

  constructor(message: string, options: { cause?: unknown; isTimeout?: boolean } = {}) {
    super(message, options);
    this.name = 'ExtensionUnreachableError';
    this.isTimeout = options.isTimeout ?? false;
  }
}

export interface ExtensionTransport {
  /** Throws ExtensionUnreachableError unless the response is 200 with JSON. */
  post(call: ExtensionPost): Promise<JsonValue>;
  /** closes the connections to an extension */
  forget(extension: string): Promise<void>;
  close(): Promise<void>;
}

/** Response size limit; patches of all templates of a class are the largest responses. */
const maxAnswerBytes = 20 * 1024 * 1024;
const shownBytes = 512;

interface Connection {
  /** client config of the agent */
  key: string;
  agent: Agent;
}

/** Calls extensions over HTTPS: certificates are verified, redirects are not followed, sizes and times are limited. */
export function createExtensionTransport(options: ExtensionTransportOptions): ExtensionTransport {
  const { clock, findService, peers = anyPeer } = options;
  const connections = new Map<string, Connection>();

  const agentFor = async (extension: string, caBundle: string, servername: string): Promise<Agent> => {
    const key = `${servername}\n${caBundle}`;
    const known = connections.get(extension);
    if (known?.key === key) return known.agent;
    const ca = caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
    const agent = new Agent({
      connect: {
        lookup: guardedLookup(peers, lookup as never) as never,
        minVersion: 'TLSv1.2',
        ...(servername !== '' && { servername }),
        ...(ca !== undefined && { ca }),
      },
      connections: 16,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      // the call's timeout applies, on the injected clock
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    connections.set(extension, { key, agent });
    await known?.agent.destroy();
    return agent;
  };

  return {
    async post({ extension, config, path, timeoutMs, body, signal }) {
      const limit = new AbortController();
      const cancel = clock.after(timeoutMs, () =>
        limit.abort(new Error(`no answer within ${timeoutMs / 1000} seconds`)),
      );
      const both = AbortSignal.any([signal, limit.signal]);
      let shown = '';
      try {
        const place = await placeOf(config, findService, both);
        shown = place.shown;
        checkPeerHost(peers, place.url.hostname);
        const url = new URL(place.url);
        url.pathname = `${trimTrailing(url.pathname, '/')}${path}`;
        url.search = `timeout=${timeoutMs / 1000}s`;
        const answer = await request(url, {
          method: 'POST',
          dispatcher: await agentFor(extension, config.caBundle ?? '', place.servername),
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: jsonText(body),
          signal: both,
        });
        const text = await readLimited(answer.body as AsyncIterable<Buffer>);
        if (answer.statusCode !== 200) {
          const said = text.length > shownBytes ? `${text.slice(0, shownBytes)}…` : text;
          throw new Error(`the server answered ${answer.statusCode}${said === '' ? '' : `: ${said}`}`);
        }
        return parsed(text);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const isTimeout = limit.signal.aborted;
        const cause = isTimeout ? limit.signal.reason : error;
        const where = shown === '' ? '' : `${shown}: `;
        throw new ExtensionUnreachableError(`${where}${errorMessage(cause)}`, { cause, isTimeout });
      } finally {
        cancel();
      }
    },
    async forget(extension) {
      const known = connections.get(extension);
      connections.delete(extension);
      await known?.agent.destroy();
    },
    async close() {
      const open = [...connections.values()];
      connections.clear();
      await Promise.all(open.map(({ agent }) => agent.destroy()));
    },
  };
}

interface Place {
  url: URL;
  /** expected name in the certificate; empty for an IP address */
  servername: string;
  /** display name */
  shown: string;
}

async function placeOf(
  { url: text, service }: ExtensionClientConfig,
  findService: FindService,
  signal: AbortSignal,
): Promise<Place> {
  if (service) {
    const { namespace, name, path = '', port = 443 } = service;
    const servername = `${name}.${namespace}.svc`;
    const { host, port: target } = await findService({ namespace, name, port }, signal);
    const url = new URL(`https://${isIP(host) === 6 ? `[${host}]` : host}:${target}`);
    url.pathname = path;
    return { url, servername, shown: `https://${servername}:${port}` };
  }
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:') throw new Error('spec.clientConfig names neither a service nor an https URL');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { url, servername: isIP(host) === 0 ? host : '', shown: url.origin };
}

async function readLimited(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // leaving the loop closes the connection
    if (bytes > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`the answer is not JSON: ${errorMessage(error)}`);
  }
}
