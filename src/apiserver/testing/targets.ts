import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, parseYaml, systemRandom } from '../../machinery/index.ts';
import { Api } from './api.ts';
import type { Endpoint, Headers, Protocol } from './connection.ts';
import { type EngineName, startTestServer, type TestServer, type TestServerOptions } from './server.ts';

/** A server that the rules of the wire are held against, ours or a real kube-apiserver. */
export interface Target {
  /** cluster-admin */
  readonly api: Api;
  readonly endpoint: Endpoint;
  /** ours, to look inside; undefined on a real kube-apiserver */
  readonly ours: TestServer | undefined;
  /** a further client with cluster-admin rights */
  connect(protocol?: Protocol, headers?: Headers): Api;
  /** a namespace of its own; returns `/api/v1/namespaces/<name>` */
  namespace(): Promise<Namespace>;
  /** registers what to delete at the end: only a shared server needs it */
  cleanUp(path: string): void;
  /** a name nobody else uses */
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
  /** the reference itself: rules that are ours alone are not asked of it */
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

/** Ours on one engine; a real kube-apiserver too when CAPSTAN_REAL_KUBECONFIG names its kubeconfig. */
export const targets: readonly TargetChoice[] = [ours('memory'), ...(realKubeconfig ? [real] : [])];
/** Ours on each engine, for rules that lean on the store. */
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
