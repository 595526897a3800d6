import { type ConfigMap, ConfigMaps } from '../../../../api/index.ts';
import { errorMessage, ignoreNotFound, type JsonObject, nextCronTime } from '../../../../machinery/index.ts';
import { EtcdKeys, type WorkloadCluster } from '../../../../simkube/index.ts';
import { sharedFiles } from './pki.ts';
import { Rke2Refusal } from './refusal.ts';
import type { ServerRun } from './server-run.ts';
import { snapshotText } from './snapshot-file.ts';

const listed = { namespace: 'kube-system', name: 'rke2-etcd-snapshots' };
const fieldManager = 'rke2';

/** Takes snapshots by the schedule of the server until power-off. */
export function keepSnapshots(run: ServerRun, cluster: WorkloadCluster): void {
  const { machine, config, say } = run;
  const { isScheduled, name, schedule } = config.snapshots;
  if (!isScheduled || config.datastore !== undefined) return;
  const loop = async (): Promise<void> => {
    for (;;) {
      const now = machine.clock.now();
      const next = nextCronTime(schedule, now);
      if (next === undefined) return say('error', `failed to parse the schedule "${schedule}" of snapshots`);
      await machine.pass(next - now);
      try {
        await takeSnapshot(run, cluster, name);
      } catch (error) {
        machine.signal.throwIfAborted();
        say('error', `Failed to take etcd snapshot: ${errorMessage(error)}`);
      }
    }
  };
  // it ends at power-off
  loop().catch(() => undefined);
}

/** Runs `rke2 etcd-snapshot save`, `ls` or `delete` on a running server. */
export async function snapshotCommand(run: ServerRun, words: readonly string[], flags: JsonObject): Promise<number> {
  const { machine, kubelet } = run;
  const cluster = kubelet.controlPlane.cluster;
  if (!cluster || !kubelet.controlPlane.isReady('kube-apiserver')) {
    throw new Rke2Refusal('etcd-snapshot: see server log for details: https://127.0.0.1:9345: connection refused');
  }
  const [verb = 'save', ...names] = words;
  if (verb === 'save') {
    const name = typeof flags['name'] === 'string' ? flags['name'] : 'on-demand';
    const saved = await takeSnapshot(run, cluster, name);
    machine.console.write(`Snapshot ${saved} saved.\n`);
    return 0;
  }
  if (verb === 'ls' || verb === 'list') {
    for (const name of snapshotNames(run)) machine.console.write(`${name}\n`);
    return 0;
  }
  if (verb !== 'delete') throw new Rke2Refusal(`"rke2 etcd-snapshot ${verb}" is not simulated`);
  for (const name of names) removeSnapshot(run, name);
  await listSnapshots(run, cluster);
  return 0;
}

async function takeSnapshot(run: ServerRun, cluster: WorkloadCluster, prefix: string): Promise<string> {
  const { buckets, config, machine, registry, say } = run;
  const { bucket, directory } = config.snapshots;
  const series = `${prefix}-${config.nodeName}-`;
  const name = `${series}${Math.floor(machine.clock.now() / 1_000)}`;
  say('info', `Saving etcd snapshot to ${directory}/${name}`);
  const keys = await new EtcdKeys(registry, cluster.etcd).snapshot();
  const text = snapshotText({ files: sharedFiles(machine.disk, config), keys }, config.token);
  machine.disk.write(`${directory}/${name}`, text, 0o600);
  if (bucket) {
    say('info', `Saving etcd snapshot ${name} to S3`);
    await buckets.put(bucket, name, text);
  }
  const old = snapshotNames(run).filter((each) => each.startsWith(series));
  for (const each of old.slice(0, -config.snapshots.retention)) removeSnapshot(run, each);
  await listSnapshots(run, cluster);
  return name;
}

/** Names of this server's snapshots, on its disk and in the object store, sorted. */
function snapshotNames({ buckets, config, machine }: ServerRun): string[] {
  const { bucket, directory } = config.snapshots;
  const local = machine.disk.list(`${directory}/`).map((path) => path.slice(directory.length + 1));
  return [...new Set([...local, ...(bucket ? buckets.names(bucket) : [])])].sort();
}

function removeSnapshot({ buckets, config, machine }: ServerRun, name: string): void {
  const { bucket, directory } = config.snapshots;
  machine.disk.remove(`${directory}/${name}`);
  if (bucket) buckets.remove(bucket, name);
}

/** rke2 lists the snapshots in a ConfigMap, for people. */
async function listSnapshots(run: ServerRun, cluster: WorkloadCluster): Promise<void> {
  const { buckets, config, machine } = run;
  const { bucket, directory } = config.snapshots;
  const local = machine.disk.list(`${directory}/`).map((path) => path.slice(directory.length + 1));
  const rows = [
    ...local.map((name) => [
      `local-${name}`,
      { name, location: `file://${directory}/${name}`, nodeName: config.nodeName },
    ]),
    ...(bucket ? buckets.names(bucket) : []).map((name) => [
      `s3-${name}`,
      { name, location: `s3://${bucket?.bucket}/${name}`, nodeName: 's3' },
    ]),
  ] as const;
  const data = Object.fromEntries(rows.map(([key, row]) => [String(key), JSON.stringify(row)]));
  const client = cluster.loopback;
  const found = await client.get(ConfigMaps, listed).catch(ignoreNotFound);
  const others = Object.entries(found?.data ?? {}).filter(([key, row]) => {
    const { nodeName } = JSON.parse(row) as { nodeName?: string };
    return key.startsWith('local-') && nodeName !== config.nodeName;
  });
  const desired: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: listed,
    data: { ...Object.fromEntries(others), ...data },
  };
  if (found) await client.update(ConfigMaps, { ...desired, metadata: found.metadata }, { fieldManager });
  else await client.create(ConfigMaps, desired, { fieldManager });
}
