import type { EtcdCluster } from '../../etcd/etcd-cluster.ts';
import { EtcdKeys } from '../../etcd/keys.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import type { Closing } from '../running.ts';
import { dataFile, readEtcdData, writeEtcdData } from './data-directory.ts';
import type { EtcdWay } from './way.ts';

/** Settings of a private store. */
export interface OwnStoreOptions {
  /** directory of its data */
  readonly directory: string;
  readonly version?: string;
  /** existing store of other members to join */
  readonly existing?: EtcdCluster | undefined;
}

/**
 * Opens a store that a program keeps in a directory: a database, or the storage inside of k0s. The simulation
 * represents each as an etcd cluster, usually with one member.
 */
export async function openOwnStore(
  { clusters }: SimulatedKubernetes,
  process: SimulatedProcess,
  closing: Closing,
  { directory, version, existing }: OwnStoreOptions,
): Promise<EtcdWay> {
  const { files, hostname } = process;
  const file = dataFile(directory);
  const data = readEtcdData(files.read(file));
  const kept = data && clusters.etcd(data.clusterId);
  const facts = { name: hostname, clientUrls: [`https://${hostname}`], ...(version !== undefined && { version }) };
  let etcd: EtcdCluster;
  let memberId: string;
  if (data && kept?.member(data.memberId)) {
    etcd = kept;
    memberId = data.memberId;
  } else {
    etcd = existing ?? clusters.createEtcd();
    const peerUrls = [`https://${hostname}:2380`];
    memberId = (
      existing ? etcd.add(peerUrls, { isLearner: false }) : etcd.found({ name: hostname, peerUrls, clientUrls: [] })
    ).id;
    clusters.claim(etcd.id, memberId);
    await clusters.saved(etcd.id);
    files.write(file, writeEtcdData({ clusterId: etcd.id, memberId }), 0o600);
  }
  etcd.start(memberId, facts);
  closing.add(() => etcd.stop(memberId));
  return {
    endpoint: { cluster: etcd, memberId, version: version ?? '3.6.4', data: new EtcdKeys(clusters, etcd) },
    keyspace: (prefix) => clusters.keyspace(etcd.id, prefix),
  };
}
