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
  /** with the administrator's certificate */
  readonly admin: Endpoint;
  /** without any credentials */
  readonly nobody: Endpoint;
  /** failures the server called unexpected: each is a bug */
  readonly unexpected: { what: string; error: unknown }[];
  stop(): Promise<void>;
}

export interface InProcessOptions {
  /** `memory` keeps the key limit of the durable engine */
  engine?: 'memory' | 'disk';
  clock?: Clock;
  history?: Partial<HistoryLimits>;
  /** further options of the server */
  server?: Partial<ApiServerOptions>;
  listen?: Partial<Parameters<ApiServer['listen']>[0]>;
}

const durableKeyLimit = 1978;

/** The API server with all our kinds, in this process, on a real TLS socket. */
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

/** Timers fire `factor` times sooner: waits of minutes can be lived through in a test. The time of day is the real one. */
export function hurriedClock(factor: number): Clock {
  return { ...systemClock, after: (ms, callback) => systemClock.after(ms / factor, callback) };
}
