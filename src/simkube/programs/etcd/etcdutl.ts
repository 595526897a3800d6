import { EtcdKeys } from '../../etcd/keys.ts';
import { readSnapshot } from '../../etcd/snapshot.ts';
import type { SimulatedProgram } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { type FlagTable, flagValue, names, parseFlags } from '../flags.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { program, requiredFile } from '../running.ts';
import { dataFile, writeEtcdData } from './data-directory.ts';

const table: FlagTable = {
  valued: new Set(
    names(
      'data-dir wal-dir name initial-cluster initial-cluster-token initial-advertise-peer-urls bump-revision write-out',
    ),
  ),
  switches: new Set(names('skip-hash-check mark-compacted')),
  short: { w: 'write-out' },
  unknown: (name) => new ProgramFailure(`Error: unknown flag: --${name}`, 128),
  missing: (name) => new ProgramFailure(`Error: flag needs an argument: --${name}`, 128),
};

/** etcdutl: restores a snapshot to the data directory of a new cluster, and inspects snapshots. */
export function etcdutlProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process) => {
    const { flags, words } = parseFlags(process.argv.slice(1), table);
    const [noun, verb, path] = words;
    if (noun !== 'snapshot' || (verb !== 'restore' && verb !== 'status') || path === undefined) {
      throw new ProgramFailure(`Error: unknown command "${words.join(' ')}" for "etcdutl"`, 128);
    }
    const text = requiredFile(process, path, (reason) => new ProgramFailure(`Error: ${reason}`));
    const content = checked(text);
    if (verb === 'status') {
      process.log([content.clusterId, content.revision, content.entries.length, `${text.length} B`].join(', '));
      return 0;
    }
    const name = flagValue(flags, 'name') ?? 'default';
    const file = dataFile(flagValue(flags, 'data-dir') ?? `/${name}.etcd`);
    if (process.files.read(file) !== undefined) {
      throw new ProgramFailure(`Error: data-dir "${flagValue(flags, 'data-dir')}" not empty or could not be read`);
    }
    const peerUrl = flagValue(flags, 'initial-advertise-peer-urls') ?? 'http://localhost:2380';
    const { clusters } = kubernetes;
    const etcd = clusters.createEtcd();
    // With a name, the member counts as started before, so that it does not bootstrap a new cluster.
    const member = etcd.found({ name, peerUrls: peerUrl.split(','), clientUrls: [peerUrl] });
    clusters.claim(etcd.id, member.id);
    await new EtcdKeys(clusters, etcd).restore(text);
    await clusters.saved(etcd.id);
    process.files.write(file, writeEtcdData({ clusterId: etcd.id, memberId: member.id }), 0o600);
    process.log(
      JSON.stringify({ level: 'info', msg: 'restored snapshot', path, 'data-dir': flagValue(flags, 'data-dir') }),
    );
    return 0;
  });
}

function checked(text: string): ReturnType<typeof readSnapshot> {
  try {
    return readSnapshot(text);
  } catch (error) {
    throw new ProgramFailure(`Error: ${error instanceof Error ? error.message : 'damaged snapshot'}`);
  }
}
