import { errorMessage } from '../../../machinery/index.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { SimulatedProcess } from '../../process.ts';
import { connectEtcd, type EtcdConnection, type EtcdCredentials, prefixEnd } from '../etcd/way.ts';
import { klog } from '../klog.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';

/** Etcd settings of an API server. */
export interface StorageSettings {
  readonly etcdServers: readonly string[];
  readonly etcdPrefix: string;
  readonly etcdCredentials: EtcdCredentials;
}

/** Time to retry before giving up. */
const patienceMs = 20_000;
const retryMs = 1_000;

/** Connects to etcd and waits for a quorum. After a timeout it logs the reason and returns undefined. */
export async function openStorage(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  settings: StorageSettings,
): Promise<WorkloadCluster | undefined> {
  const deadline = process.clock.now() + patienceMs;
  let said = '';
  for (;;) {
    const outcome = tryServers(kubernetes, process, settings);
    if (typeof outcome !== 'string') return outcome;
    if (outcome !== said) {
      said = outcome;
      const target = settings.etcdServers.join(',');
      klog(
        process,
        'W',
        'logging.go:55',
        `[core] [Channel #1] grpc: addrConn.createTransport failed to connect to {Addr: "${target}"}. Err: connection error: desc = "${outcome}"`,
      );
    }
    if (process.clock.now() + retryMs > deadline) {
      klog(process, 'F', 'instance.go:233', `Error creating leases: error creating storage factory: ${outcome}`);
      return undefined;
    }
    await process.pass(retryMs);
  }
}

/** Returns the cluster, or the reason why no server accepts the connection. */
function tryServers(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  { etcdServers, etcdPrefix, etcdCredentials }: StorageSettings,
): WorkloadCluster | string {
  let reason = 'context deadline exceeded';
  for (const server of etcdServers) {
    try {
      const connection = connectEtcd(kubernetes, process, server, etcdCredentials);
      checkAccess(connection, etcdPrefix);
      if (connection.way.endpoint.cluster.hasQuorum) return connection.way.keyspace(etcdPrefix);
      reason = 'context deadline exceeded';
    } catch (error) {
      reason = `transport: Error while dialing: ${errorMessage(error)}`;
    }
  }
  return reason;
}

function checkAccess({ way, user }: EtcdConnection, prefix: string): void {
  const from = `${prefix}/`;
  way.endpoint.cluster.access.check(user, { from, to: prefixEnd(from) }, 'write');
}
