import type { Duplex } from 'node:stream';
import { type Acceptor, type UserInfo, withAuthenticatedGroup } from '../../apiserver/index.ts';
import { type Client, sharedSignal } from '../../client/index.ts';
import { statusError } from '../../machinery/index.ts';
import type { CertificateAndKey } from '../../pki/index.ts';
import type { ApiCredentials, HttpAnswer, PortService, ReachableApi } from '../types.ts';
import { connectedClient } from './connected-client.ts';
import type { ClusterSettings } from './settings.ts';
import { checkServingCertificate, userOfCertificate } from './trust.ts';
import type { WorkloadCluster } from './workload-cluster.ts';

/** An API server on one control-plane machine or in one Pod. All instances of a cluster serve the same data. */
export interface ApiInstance {
  readonly cluster: WorkloadCluster;
  readonly service: PortService;
  /** stops the instance and breaks its connections */
  stop(): void;
}

const clusters = new WeakMap<ReachableApi, WorkloadCluster>();

/** Returns the cluster of an API; undefined if it is not the API of a simulated machine. */
export function clusterOfApi(api: ReachableApi | undefined): WorkloadCluster | undefined {
  return api && clusters.get(api);
}

/** Starts an API server of a cluster with settings and the serving certificate of its machine. */
export async function startApiInstance(
  cluster: WorkloadCluster,
  settings: ClusterSettings,
  serving: Readonly<CertificateAndKey>,
): Promise<ApiInstance> {
  const served = await cluster.serve(settings);
  const { server } = served;
  const ended = new AbortController();
  sharedSignal(ended.signal);
  let acceptor: { readonly certificate: string; readonly accepts: Acceptor } | undefined;
  const acceptors = new Set<Acceptor>();

  const userOf = (credentials: ApiCredentials): (() => UserInfo) => {
    const { clientCertificate, token } = credentials;
    const byCertificate =
      clientCertificate && userOfCertificate(clientCertificate, settings.clientAuthorities, cluster.clock);
    if (byCertificate) {
      const user = withAuthenticatedGroup(byCertificate);
      return () => user;
    }
    if (clientCertificate && token === undefined) return refuse;
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    return () => server.access.authenticator.authenticate({ authorization, socket: undefined }) ?? refuse();
  };

  const api: ReachableApi = {
    connect(credentials: ApiCredentials): Client {
      if (credentials.certificateAuthority !== undefined) {
        const trusted = { authority: credentials.certificateAuthority, serverName: credentials.serverName };
        checkServingCertificate(serving.certificate, trusted, cluster.clock);
      }
      return connectedClient({
        server,
        user: userOf(credentials),
        signal: ended.signal,
        gate: () => cluster.gate(),
      });
    },
    servingCertificate: () => serving.certificate,
    async raw(path) {
      const problem = cluster.healthProblem();
      if (problem !== undefined) throw statusError.internal(`${path} check failed: [-]etcd failed: ${problem}`);
      return 'ok';
    },
    portForward: (pod, port) => cluster.portForward(pod, port),
  };
  clusters.set(api, cluster);
  let isStopped = false;
  return {
    cluster,
    service: {
      api,
      get: (path) => answer(cluster, settings, path),
      accept(socket: Duplex): void {
        const { certificate } = serving;
        // Created on demand, because simulations without sockets need no TLS server. A new certificate applies from the
        // next connection on.
        if (acceptor?.certificate !== certificate) {
          const tls = { cert: certificate, key: serving.privateKey, clientCa: settings.clientAuthorities };
          acceptor = { certificate, accepts: server.acceptor(tls) };
          acceptors.add(acceptor.accepts);
        }
        acceptor.accepts.accept(socket);
      },
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      ended.abort();
      for (const each of acceptors) each.close();
      served.release();
    },
  };
}

const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/** GET requests that need no authentication. */
async function answer(cluster: WorkloadCluster, settings: ClusterSettings, path: string): Promise<HttpAnswer> {
  const [plain = ''] = path.split('?');
  if (healthPaths.has(plain)) {
    const problem = cluster.healthProblem();
    if (problem === undefined) return { status: 200, body: 'ok' };
    return { status: 500, body: `[+]ping ok\n[-]etcd failed: reason withheld\n${plain.slice(1)} check failed\n` };
  }
  if (plain === '/version') return { status: 200, body: JSON.stringify({ gitVersion: settings.kubernetesVersion }) };
  return { status: 403, body: `forbidden: User "system:anonymous" cannot get path "${plain}"` };
}

function refuse(): never {
  throw statusError.unauthorized();
}
