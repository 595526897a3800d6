import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../../api/index.ts';
import { type Clock, systemClock } from '../../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
} from '../../pki/index.ts';
import { type Engine, type HistoryLimits, lmdbEngine, memoryEngine, type Store } from '../../store/index.ts';
import { controllerBackedPlugins } from '../admission/index.ts';
import type { Listener } from '../http/listener.ts';
import type { LocalClient } from '../local-client.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../server.ts';
import { openObjectStore } from '../storage/object-store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { Api } from './api.ts';
import type { Endpoint, Headers, Protocol } from './connection.ts';

export type EngineName = 'memory' | 'lmdb';

export interface TestServerOptions extends Partial<ApiServerOptions> {
  engine?: EngineName;
  /** directory of an lmdb engine, which is kept so that the server can be restarted */
  directory?: string;
  clock?: Clock;
  history?: Partial<HistoryLimits>;
  /** serve our own kinds besides those of Kubernetes */
  ownKinds?: boolean;
}

/** A test API server on a TLS socket with access to its internals. */
export interface TestServer {
  readonly server: ApiServer;
  readonly store: Store<StoredObject>;
  readonly endpoint: Endpoint;
  readonly local: LocalClient;
  /** unexpected errors that the server reported; `stop` fails if any are left */
  readonly unexpected: unknown[];
  /** returns a cluster-admin client, which is closed with the server */
  api(protocol?: Protocol, headers?: Headers): Api;
  /** returns a client with a certificate of the user */
  as(user: string, groups?: readonly string[], protocol?: Protocol): Promise<Api>;
  /** returns a client without a certificate */
  anonymous(options?: { token?: string; protocol?: Protocol }): Api;
  stop(): Promise<void>;
}

interface Trust {
  authority: CertificateAndKey;
  server: CertificateAndKey;
  admin: CertificateAndKey;
  serviceAccountKey: string;
}

let trust: Promise<Trust> | undefined;

/** Keys are created once per process, because they cost more than a server. */
function sharedTrust(): Promise<Trust> {
  trust ??= makeTrust();
  return trust;
}

async function makeTrust(): Promise<Trust> {
  const [authority, keys] = await Promise.all([
    createAuthority({ commonName: 'test', clock: systemClock }),
    createServiceAccountKeyPair(),
  ]);
  const issue = (commonName: string, organizations: string[], usage: 'server' | 'client'): Promise<CertificateAndKey> =>
    issueCertificate({
      authority,
      commonName,
      organizations,
      hosts: usage === 'server' ? ['127.0.0.1', 'localhost'] : [],
      usages: [usage],
      clock: systemClock,
    });
  const [server, admin] = await Promise.all([
    issue('kube-apiserver', [], 'server'),
    issue('kubernetes-admin', ['system:masters'], 'client'),
  ]);
  return { authority, server, admin, serviceAccountKey: keys.privateKey };
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { engine: engineName = 'memory', directory, history, ownKinds = false, ...serverOptions } = options;
  const keys = await sharedTrust();
  const { engine, clean } = await openEngine(directory === undefined ? engineName : 'lmdb', directory);
  const store = await openObjectStore({
    engine,
    ...(options.clock && { clock: options.clock }),
    ...(history && { history }),
  });
  const unexpected: unknown[] = [];
  const server = await createApiServer({
    store,
    definitions: ownKinds ? [...builtinDefinitions, ...ownDefinitions] : builtinDefinitions,
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: {
      mode: 'RBAC',
      clientCa: keys.authority.certificate,
      serviceAccounts: { issuer: 'https://kubernetes.default.svc', signingKeyPem: keys.serviceAccountKey },
    },
    onError: (error) => unexpected.push(error),
    ...serverOptions,
  });
  const listener: Listener = await server.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { cert: keys.server.certificate, key: keys.server.privateKey, clientCa: keys.authority.certificate },
  });
  const place = { host: '127.0.0.1', port: listener.port, ca: keys.authority.certificate };
  const endpoint: Endpoint = { ...place, cert: keys.admin.certificate, key: keys.admin.privateKey };
  const clients = new Set<Api>();
  const remember = (api: Api): Api => {
    clients.add(api);
    return api;
  };
  return {
    server,
    store,
    endpoint,
    unexpected,
    local: server.localClient(),
    api: (protocol, headers) => remember(new Api(endpoint, protocol, headers)),
    async as(user, groups = [], protocol = 'h2') {
      const { certificate, privateKey } = await issueCertificate({
        authority: keys.authority,
        commonName: user,
        organizations: [...groups],
        usages: ['client'],
        clock: systemClock,
      });
      return remember(new Api({ ...place, cert: certificate, key: privateKey }, protocol));
    },
    anonymous: ({ token, protocol } = {}) =>
      remember(new Api({ ...place, ...(token !== undefined && { token }) }, protocol)),
    async stop() {
      for (const client of clients) client.close();
      await server.stop(0);
      await store.close();
      await clean();
      if (unexpected.length > 0) throw new AggregateError(unexpected, `the server failed: ${unexpected.join('; ')}`);
    },
  };
}

async function openEngine(
  name: EngineName,
  given: string | undefined,
): Promise<{ engine: Engine; clean(): Promise<void> }> {
  if (name === 'memory') return { engine: memoryEngine(), clean: async () => {} };
  if (given !== undefined) return { engine: await lmdbEngine({ directory: given }), clean: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), 'capstan-test-'));
  return {
    engine: await lmdbEngine({ directory }),
    clean: () => rm(directory, { recursive: true, force: true }),
  };
}
