import { createHash } from 'node:crypto';
import { trimTrailing } from '../machinery/index.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import { createLimiter, type Limiter } from './http/limiter.ts';
import type { Session } from './identity/session.ts';
import { type ConnectOptions, defaultConcurrency, type OpenStack, openSession, openStackOver } from './openstack.ts';
import type { Transport } from './transport/types.ts';
import { httpTransport, type TlsSettings } from './transport/undici.ts';

/** Shares one session between all users of the same credential, so that tokens and versions are requested once. */
export interface SessionPool {
  connect(config: CloudConfig): OpenStack;
  /** number of open sessions */
  readonly size: number;
  close(): Promise<void>;
}

export interface SessionPoolOptions extends ConnectOptions {
  /** maximum number of sessions; the least recently used one is dropped; default 256 */
  readonly maxSessions?: number;
}

interface PooledSession {
  session: Session;
  /** one per region, interface and set of overrides */
  views: Map<string, OpenStack>;
}

export function createSessionPool(options: SessionPoolOptions = {}): SessionPool {
  const { maxSessions = 256, concurrency = defaultConcurrency } = options;
  const sessions = new Map<string, PooledSession>();
  const transports = new Map<string, Transport>();
  const limiters = new Map<string, Limiter>();

  const transportFor = (tls: TlsSettings): Transport => {
    if (options.transport) return options.transport;
    const key = digest(tls);
    let transport = transports.get(key);
    if (!transport) {
      const { env = process.env, peers } = options;
      transport = httpTransport({ tls, env, connections: concurrency, peers });
    }
    transports.delete(key);
    transports.set(key, transport);
    for (const [oldest, unused] of transports) {
      if (transports.size <= maxSessions) break;
      transports.delete(oldest);
      void unused.close?.().catch(() => {});
    }
    return transport;
  };
  /** The limit applies per cloud, regardless of the number of projects. */
  const limiterFor = (config: CloudConfig): Limiter => {
    const key = new URL(config.authUrl).origin;
    let limiter = limiters.get(key);
    if (!limiter) {
      limiter = createLimiter(concurrency);
      limiters.set(key, limiter);
      for (const [oldest] of limiters) {
        if (limiters.size <= maxSessions) break;
        limiters.delete(oldest);
      }
    }
    return limiter;
  };

  return {
    get size() {
      return sessions.size;
    },
    connect(config) {
      const key = sessionKey(config);
      let pooled = sessions.get(key);
      if (pooled) sessions.delete(key);
      else
        pooled = {
          session: openSession(config, options, transportFor(config.tls), limiterFor(config)),
          views: new Map(),
        };
      // Inserted again at the end, so that the first entry of the map is the least recently used.
      sessions.set(key, pooled);
      for (const [oldest] of sessions) {
        if (sessions.size <= maxSessions) break;
        sessions.delete(oldest);
      }
      const view = digest([config.name, config.source, config.region, config.interfaces, config.services]);
      let openStack = pooled.views.get(view);
      if (!openStack) {
        openStack = openStackOver(pooled.session, config);
        pooled.views.set(view, openStack);
      }
      return openStack;
    },
    async close() {
      sessions.clear();
      const open = [...transports.values()];
      transports.clear();
      await Promise.all(open.map((transport) => transport.close?.()));
    },
  };
}

/** Key of configurations that share a session: same credential, scope, cloud and trust. Contains no secret. */
export function sessionKey(config: CloudConfig): string {
  return digest([trimTrailing(config.authUrl, '/'), config.credential, config.scope, config.tls, config.timeoutMs]);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortedKeys)).digest('base64url');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
