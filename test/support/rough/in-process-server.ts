import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../../../src/api/index.ts';
import {
  type ApiServer,
  type ApiServerOptions,
  controllerBackedPlugins,
  createApiServer,
  openObjectStore,
  type StoredObject,
} from '../../../src/apiserver/index.ts';
import { type Clock, systemClock } from '../../../src/machinery/index.ts';
import { ensureServerPki, type ServerPki } from '../../../src/pki/index.ts';
import { type Engine, type HistoryLimits, lmdbEngine, memoryEngine, type Store } from '../../../src/store/index.ts';
import type { Endpoint } from './wire.ts';

export interface InProcessServer {
  readonly server: ApiServer;
  readonly store: Store<StoredObject>;
  readonly pki: ServerPki;
  /** endpoint with the administrator's certificate */
  readonly admin: Endpoint;
  /** endpoint without credentials */
  readonly nobody: Endpoint;
  /** unexpected errors of the server; each is a bug */
  readonly unexpected: { what: string; error: unknown }[];
  stop(): Promise<void>;
}

export interface InProcessOptions {
  /** `memory` uses the key limit of the durable engine */
  engine?: 'memory' | 'disk';
  clock?: Clock;
  history?: Partial<HistoryLimits>;
  /** additional options of the server */
  server?: Partial<ApiServerOptions>;
  listen?: Partial<Parameters<ApiServer['listen']>[0]>;
}

const durableKeyLimit = 1978;

/** Starts the API server with all kinds in this process, on a real TLS socket. */
export async function startInProcess(options: InProcessOptions = {}): Promise<InProcessServer> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-rough-'));
  const clock = options.clock ?? systemClock;
  const pki = await ensureServerPki({
    directory: join(directory, 'pki'),
    hosts: ['127.0.0.1', 'localhost'],
    clock: systemClock,
  });
  const engine: Engine =
    options.engine === 'disk'
      ? await lmdbEngine({ directory: join(directory, 'store') })
      : { ...memoryEngine(), maxKeyBytes: durableKeyLimit };
  const store = await openObjectStore({ engine, clock, ...(options.history && { history: options.history }) });
  const unexpected: InProcessServer['unexpected'] = [];
  const server = await createApiServer({
    store,
    definitions: [...builtinDefinitions, ...ownDefinitions],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: {
      mode: 'RBAC',
      clientCa: pki.authority.certificate,
      serviceAccounts: {
        issuer: 'https://kubernetes.default.svc',
        signingKeyPem: pki.serviceAccountKeys.privateKey,
      },
    },
    clock,
    onError: (error, what) => unexpected.push({ what, error }),
    ...options.server,
  });
  const listener = await server.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { cert: pki.server.certificate, key: pki.server.privateKey, clientCa: pki.authority.certificate },
    ...options.listen,
  });
  const nobody: Endpoint = { host: '127.0.0.1', port: listener.port, ca: pki.authority.certificate };
  return {
    server,
    store,
    pki,
    nobody,
    admin: { ...nobody, cert: pki.admin.certificate, key: pki.admin.privateKey },
    unexpected,
    stop: async () => {
      await server.stop(500);
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Returns a clock whose timers run `factor` times faster, so that a test can wait for minutes. The time of day is real.
 */
export function hurriedClock(factor: number): Clock {
  return { ...systemClock, after: (ms, callback) => systemClock.after(ms / factor, callback) };
}
