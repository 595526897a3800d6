import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, parseYaml, systemRandom } from '../../machinery/index.ts';
import { Api } from './api.ts';
import type { Endpoint, Headers, Protocol } from './connection.ts';
import { type EngineName, startTestServer, type TestServer, type TestServerOptions } from './server.ts';

/** A server under test: ours or a real kube-apiserver. */
export interface Target {
  /** cluster-admin client */
  readonly api: Api;
  readonly endpoint: Endpoint;
  /** our server with its internals; undefined for a real kube-apiserver */
  readonly ours: TestServer | undefined;
  /** opens another cluster-admin client */
  connect(protocol?: Protocol, headers?: Headers): Api;
  /** creates a namespace; returns `/api/v1/namespaces/<name>` */
  namespace(): Promise<Namespace>;
  /** registers a path to delete at the end, which only shared servers need */
  cleanUp(path: string): void;
  unique(prefix: string): string;
  stop(): Promise<void>;
}

export interface Namespace {
  name: string;
  /** path of a collection in the core group */
  core(plural: string): string;
  /** path of a collection in another group */
  of(groupVersion: string, plural: string): string;
}

export interface TargetChoice {
  name: string;
  /** whether this is a real kube-apiserver, which skips the tests of our own behavior */
  real: boolean;
  start(options?: TestServerOptions): Promise<Target>;
}

const realKubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'];

function ours(engine: EngineName): TargetChoice {
  return {
    name: `capstan on ${engine}`,
    real: false,
    start: async (options = {}) => {
      const server = await startTestServer({ ...options, engine });
      return makeTarget(
        server.endpoint,
        server,
        (protocol, headers) => server.api(protocol, headers),
        () => server.stop(),
      );
    },
  };
}

const real: TargetChoice = {
  name: 'kube-apiserver',
  real: true,
  async start() {
    const endpoint = readKubeconfig(realKubeconfig!);
    const clients: Api[] = [];
    const connect = (protocol?: Protocol, headers?: Headers): Api => {
      const api = new Api(endpoint, protocol, headers);
      clients.push(api);
      return api;
    };
    return makeTarget(endpoint, undefined, connect, async () => {
      for (const client of clients) client.close();
    });
  },
};

/** Our server on one engine, and a real kube-apiserver if CAPSTAN_REAL_KUBECONFIG names its kubeconfig. */
export const targets: readonly TargetChoice[] = [ours('memory'), ...(realKubeconfig ? [real] : [])];
/** Our server on each engine, for tests that depend on the store. */
export const targetsByEngine: readonly TargetChoice[] = [
  ours('memory'),
  ours('lmdb'),
  ...(realKubeconfig ? [real] : []),
];

function makeTarget(
  endpoint: Endpoint,
  server: TestServer | undefined,
  connect: Target['connect'],
  stop: () => Promise<void>,
): Target {
  const api = connect();
  const leftovers: string[] = [];
  const unique = (prefix: string): string => `${prefix}-${systemRandom.text(6)}`;
  return {
    api,
    endpoint,
    ours: server,
    connect,
    unique,
    cleanUp: (path) => void leftovers.push(path),
    async namespace() {
      const name = unique('rules');
      await api.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      leftovers.push(`/api/v1/namespaces/${name}`);
      return {
        name,
        core: (plural) => `/api/v1/namespaces/${name}/${plural}`,
        of: (groupVersion, plural) => `/apis/${groupVersion}/namespaces/${name}/${plural}`,
      };
    },
    async stop() {
      if (!server) for (const path of leftovers.reverse()) await api.delete(path);
      await stop();
    },
  };
}

function readKubeconfig(path: string): Endpoint {
  const config = parseYaml(readFileSync(path, 'utf8')).value;
  const first = (list: string, member: string): JsonObject => {
    const [entry] = isJsonObject(config) && Array.isArray(config[list]) ? config[list] : [];
    const found = isJsonObject(entry) ? entry[member] : undefined;
    if (!isJsonObject(found)) throw new Error(`${path} has no ${list}`);
    return found;
  };
  const cluster = first('clusters', 'cluster');
  const user = first('users', 'user');
  const decode = (value: unknown): string => Buffer.from(String(value), 'base64').toString('utf8');
  const { hostname, port } = new URL(String(cluster['server']));
  return {
    host: hostname,
    port: Number(port),
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
}
