import { errorMessage } from '../../../../machinery/index.ts';
import { EtcdKeys } from '../../../../simkube/index.ts';
import { readEtcdData, writeEtcdData } from '../kubelet/control-plane.ts';
import { ensureAuthorities, issueServing, writeSharedFiles } from './pki.ts';
import { Rke2Refusal } from './refusal.ts';
import { clientUrl, memberName, peerUrl, writeAdminKubeconfig, writePods } from './server-files.ts';
import type { ServerRun } from './server-run.ts';
import { readSnapshotText, type SnapshotFile } from './snapshot-file.ts';

/**
 * Runs `rke2 server --cluster-reset`: the data of etcd is replaced by a snapshot, and this server is its only member.
 * The server has to be started again after it.
 */
export async function resetCluster(run: ServerRun): Promise<number> {
  const { machine, config, kubelet, registry, say } = run;
  if (config.server !== undefined) {
    throw new Rke2Refusal('cannot perform cluster-reset while server URL is set - remove server from configuration');
  }
  if (config.datastore !== undefined) throw new Rke2Refusal('cluster-reset is not possible with another datastore');
  if (kubelet.controlPlane.isReady('etcd')) {
    throw new Rke2Refusal('cluster-reset: listen tcp :2379: bind: address already in use: stop rke2-server first');
  }
  const { from } = config.reset;
  if (from === undefined) throw new Rke2Refusal('cluster-reset is simulated only with --cluster-reset-restore-path');
  const { files, keys } = findSnapshot(run, from);
  writeSharedFiles(machine.disk, config, files);
  await ensureAuthorities(machine, config);
  await issueServing(machine, config);
  await writeAdminKubeconfig(run);
  const before = readEtcdData(machine)?.clusterId;
  const etcd = registry.createEtcd();
  const name = memberName(run);
  const member = etcd.found({ name, peerUrls: [peerUrl(machine)], clientUrls: [clientUrl(machine)] });
  registry.claim(etcd.id, machine.server.id);
  try {
    await new EtcdKeys(registry, etcd).restore(keys);
  } catch (error) {
    registry.releaseFrom(etcd.id, machine.server.id);
    throw new Rke2Refusal(`failed to restore the snapshot: ${errorMessage(error)}`, { cause: error });
  }
  writeEtcdData(machine, { clusterId: etcd.id, memberId: member.id });
  if (before !== undefined) registry.releaseFrom(before, machine.server.id);
  writePods(run, name);
  say(
    'info',
    `Managed etcd cluster membership has been reset, restart without --cluster-reset flag now. Backup and delete ${config.dataDirectory}/server/db on each peer etcd server and rejoin the nodes`,
  );
  return 0;
}

/** With an object store in the configuration, the name is that of an object there. */
function findSnapshot({ buckets, config, machine, say }: ServerRun, from: string): SnapshotFile {
  const { bucket } = config.snapshots;
  if (bucket) say('info', `Retrieving etcd snapshot ${from} from S3`);
  const text = bucket ? buckets.get(bucket, from) : machine.disk.read(from);
  if (text !== undefined) return readSnapshotText(text, config.token);
  throw new Rke2Refusal(
    bucket
      ? `failed to download snapshot ${from} from S3: The specified key does not exist.`
      : `failed to restore the snapshot: etcd: snapshot path does not exist: ${from}`,
  );
}
