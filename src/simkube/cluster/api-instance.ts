import type { Duplex } from 'node:stream';
import { type Acceptor, type UserInfo, withAuthenticatedGroup } from '../../apiserver/index.ts';
import { type Client, sharedSignal } from '../../client/index.ts';
import { statusError } from '../../machinery/index.ts';
import type { CertificateAndKey } from '../../pki/index.ts';
import type { ApiCredentials, PortService, ReachableApi } from '../types.ts';
import { connectedClient } from './connected-client.ts';
import { checkServingCertificate, userOfCertificate } from './trust.ts';
import type { WorkloadCluster } from './workload-cluster.ts';

/** The API server on one control-plane machine. All of a cluster serve the same data. */
export interface ApiInstance {
  readonly cluster: WorkloadCluster;
  readonly service: PortService;
  /** ends it: connections break */
  stop(): void;
}

const clusters = new WeakMap<ReachableApi, WorkloadCluster>();

/** The cluster whose API this is; undefined for what is no API of a simulated machine. */
export function clusterOfApi(api: ReachableApi | undefined): WorkloadCluster | undefined {
  return api && clusters.get(api);
}

/** Starts an API server of a cluster with the serving certificate of its machine. */
export function startApiInstance(cluster: WorkloadCluster, serving: CertificateAndKey): ApiInstance {
  const ended = new AbortController();
  sharedSignal(ended.signal);
  let acceptor: Acceptor | undefined;

  const userOf = (credentials: ApiCredentials): (() => UserInfo) => {
    const { access, clock, clientAuthority } = cluster;
    const { clientCertificate, token } = credentials;
    const byCertificate = clientCertificate && userOfCertificate(clientCertificate, clientAuthority, clock);
    if (byCertificate) {
      const user = withAuthenticatedGroup(byCertificate);
      return () => user;
    }
    if (clientCertificate && token === undefined) return refuse;
    const authorization = token === undefined ? undefined : `Bearer ${token}`;
    return () => access.authenticator.authenticate({ authorization, socket: undefined }) ?? refuse();
  };

  const api: ReachableApi = {
    connect(credentials: ApiCredentials): Client {
      if (credentials.certificateAuthority !== undefined) {
        const trusted = { authority: credentials.certificateAuthority, serverName: credentials.serverName };
        checkServingCertificate(serving.certificate, trusted, cluster.clock);
      }
      return connectedClient({
        server: cluster.server,
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
  return {
    cluster,
    service: {
      api,
      accept(socket: Duplex): void {
        // Simulations without sockets never pay for a TLS server.
        acceptor ??= cluster.server.acceptor({
          cert: serving.certificate,
          key: serving.privateKey,
          clientCa: cluster.clientAuthority,
        });
        acceptor.accept(socket);
      },
    },
    stop() {
      ended.abort();
      acceptor?.close();
    },
  };
}

function refuse(): never {
  throw statusError.unauthorized();
}
