import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { EtcdCluster } from '../../etcd/etcd-cluster.ts';
import type { SimulatedProcess } from '../../process.ts';
import { openStorage } from '../apiserver/storage.ts';
import { openDataSource } from '../databases/kine.ts';
import { parseDataSource } from '../databases/source.ts';
import { openOwnStore } from '../etcd/own-store.ts';
import { etcdBehind, markEtcd } from '../etcd/way.ts';
import { ProgramFailure } from '../failure.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { type Closing, requiredFile } from '../running.ts';
import type { K0sConfig, K0sStorage } from './config.ts';

const natsClusterPort = 6222;
const ownPrefix = '/registry';

/** Opens the storage of a controller. Throws if it is unreachable for too long. */
export async function openK0sStorage(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  closing: Closing,
  { storage }: K0sConfig,
): Promise<WorkloadCluster> {
  switch (storage.kind) {
    case 'external-etcd':
      return await openExternalEtcd(kubernetes, process, storage);
    case 'own-etcd': {
      const way = await openOwnStore(kubernetes, process, closing, { directory: '/var/lib/k0s/etcd' });
      return way.keyspace(ownPrefix);
    }
    case 'kine': {
      const source = parseDataSource(storage.source);
      if (!source)
        throw new ProgramFailure(`Error: failed to start kine: unsupported storage backend: ${storage.source}`);
      if (source.kind === 'nats') return await openNats(kubernetes, process, closing);
      if (source.kind === 'sqlite') {
        const way = await openOwnStore(kubernetes, process, closing, { directory: '/var/lib/k0s/db' });
        return way.keyspace(ownPrefix);
      }
      return (await openDataSource(kubernetes, process, closing, storage.source)).keyspace(ownPrefix);
    }
  }
}

async function openExternalEtcd(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  storage: Extract<K0sStorage, { kind: 'external-etcd' }>,
): Promise<WorkloadCluster> {
  const read = (path: string): string | undefined =>
    path === ''
      ? undefined
      : requiredFile(process, path, (reason) => new ProgramFailure(`Error: kube-apiserver: ${reason}`));
  const cluster = await openStorage(kubernetes, process, {
    etcdServers: storage.endpoints,
    etcdPrefix: storage.prefix,
    etcdCredentials: {
      authorities: read(storage.caFile),
      certificate: read(storage.certificateFile),
      key: read(storage.keyFile),
    },
  });
  if (!cluster)
    throw new ProgramFailure('Error: failed to start controller node components: kube-apiserver did not start');
  return cluster;
}

/** Opens NATS, which is embedded in every controller. Controllers that reach each other share data. */
async function openNats(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  closing: Closing,
): Promise<WorkloadCluster> {
  const existing = natsPeer(process);
  const way = await openOwnStore(kubernetes, process, closing, { directory: '/nats-data', existing });
  closing.add(process.listen(natsClusterPort, markEtcd(localOnly(), way)));
  return way.keyspace(ownPrefix);
}

function natsPeer(process: SimulatedProcess): EtcdCluster | undefined {
  const routes = process.files.read('/etc/k0s/nats.conf')?.matchAll(/nats:\/\/([^:,\]\s]+):(\d+)/g) ?? [];
  for (const [, host = '', port] of routes) {
    try {
      const way = etcdBehind(process.dial(host, Number(port)));
      if (way) return way.endpoint.cluster;
    } catch {
      // Other controllers may answer.
    }
  }
  return undefined;
}
