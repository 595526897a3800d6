import { errorMessage } from '../../../machinery/index.ts';
import { EtcdError } from '../../etcd/errors.ts';
import type { EtcdMember } from '../../etcd/etcd-cluster.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { type Flags, type FlagTable, flagValue, isSwitchedOn, listValue, names, parseFlags } from '../flags.ts';
import { versionInTag } from '../image.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { program } from '../running.ts';
import { connectEtcd, type EtcdConnection, type EtcdCredentials } from './way.ts';

const table: FlagTable = {
  valued: new Set(
    names('endpoints cacert cert key command-timeout dial-timeout user password write-out peer-urls data-dir'),
  ),
  switches: new Set(names('cluster insecure-skip-tls-verify insecure-transport learner hex debug prefix keys-only')),
  short: { w: 'write-out' },
  unknown: (name) => new ProgramFailure(`Error: unknown flag: --${name}`, 128),
  missing: (name) => new ProgramFailure(`Error: flag needs an argument: --${name}`, 128),
};

interface Asked {
  readonly kubernetes: SimulatedKubernetes;
  readonly process: SimulatedProcess;
  readonly flags: Flags;
  readonly words: readonly string[];
  readonly endpoints: readonly string[];
  readonly credentials: EtcdCredentials;
}

/** etcdctl: requests of probes and people to a member. */
export function etcdctlProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process) => {
    const { flags, words } = parseFlags(process.argv.slice(1), table);
    const { env, files } = process;
    const fileOf = (flag: string, variable: string): string | undefined => {
      const path = flagValue(flags, flag) ?? env[variable];
      return path === undefined ? undefined : files.read(path);
    };
    const given = listValue(flags, 'endpoints');
    const fromEnvironment = (env['ETCDCTL_ENDPOINTS'] ?? '').split(',').filter((item) => item !== '');
    const asked: Asked = {
      kubernetes,
      process,
      flags,
      words,
      endpoints: given.length > 0 ? given : fromEnvironment.length > 0 ? fromEnvironment : ['127.0.0.1:2379'],
      credentials: {
        authorities: fileOf('cacert', 'ETCDCTL_CACERT'),
        certificate: fileOf('cert', 'ETCDCTL_CERT'),
        key: fileOf('key', 'ETCDCTL_KEY'),
      },
    };
    const [noun = '', verb = ''] = words;
    const command = commands[`${noun} ${verb}`.trim()] ?? commands[noun];
    if (!command) throw new ProgramFailure(`Error: unknown command "${noun}" for "etcdctl"`, 128);
    return await command(asked);
  });
}

const commands: Readonly<Record<string, (asked: Asked) => Promise<number> | number>> = {
  version({ process }) {
    process.log(`etcdctl version: ${versionInTag(process.image) ?? '3.6.4'}\nAPI version: 3.6`);
    return 0;
  },
  'endpoint health': (asked) => {
    let status = 0;
    for (const endpoint of asked.endpoints) {
      try {
        const { cluster } = reach(asked, endpoint).way.endpoint;
        if (!cluster.hasQuorum) throw new Error('context deadline exceeded');
        asked.process.log(`${endpoint} is healthy: successfully committed proposal: took = 2.1ms`);
      } catch (error) {
        asked.process.log(`${endpoint} is unhealthy: failed to commit proposal: ${errorMessage(error)}`);
        status = 1;
      }
    }
    if (status !== 0) asked.process.log('Error: unhealthy cluster');
    return status;
  },
  'endpoint status': (asked) => {
    for (const endpoint of asked.endpoints) {
      const { cluster, memberId, version, data } = first(asked).way.endpoint;
      const isLeader = cluster.leaderId === memberId;
      const isLearner = cluster.member(memberId)?.isLearner ?? false;
      asked.process.log(
        [endpoint, memberId, version, `${data.bytes()} B`, isLeader, isLearner, cluster.term, data.revision()].join(
          ', ',
        ),
      );
    }
    return 0;
  },
  'member list': (asked) => {
    for (const member of first(asked).way.endpoint.cluster.members) asked.process.log(memberLine(member));
    return 0;
  },
  'member add': (asked) => {
    const { cluster } = first(asked).way.endpoint;
    const member = cluster.add(listValue(asked.flags, 'peer-urls'), {
      isLearner: isSwitchedOn(asked.flags, 'learner'),
    });
    asked.process.log(`Member ${member.id} added to cluster ${cluster.id}`);
    return 0;
  },
  'member remove': (asked) => {
    const { cluster } = first(asked).way.endpoint;
    cluster.remove(asked.words[2] ?? '');
    asked.process.log(`Member ${asked.words[2]} removed from cluster ${cluster.id}`);
    return 0;
  },
  'member promote': (asked) => {
    const { cluster } = first(asked).way.endpoint;
    cluster.promote(asked.words[2] ?? '');
    asked.process.log(`Member ${asked.words[2]} promoted in cluster ${cluster.id}`);
    return 0;
  },
  defrag: (asked) => {
    for (const endpoint of asked.endpoints) {
      reach(asked, endpoint);
      asked.process.log(`Finished defragmenting etcd member[${endpoint}]`);
    }
    return 0;
  },
  'snapshot save': async (asked) => {
    const path = asked.words[2];
    if (path === undefined) throw new ProgramFailure('Error: snapshot save expects one argument', 128);
    asked.process.files.write(path, await first(asked).way.endpoint.data.snapshot(), 0o600);
    asked.process.log(`Snapshot saved at ${path}`);
    return 0;
  },
};

function memberLine({ id, name, peerUrls, clientUrls, isLearner }: EtcdMember): string {
  const status = clientUrls.length > 0 ? 'started' : 'unstarted';
  return [id, status, name, peerUrls.join(','), clientUrls.join(','), isLearner].join(', ');
}

function first(asked: Asked): EtcdConnection {
  let reason: unknown;
  for (const endpoint of asked.endpoints) {
    try {
      return reach(asked, endpoint);
    } catch (error) {
      reason = error;
    }
  }
  throw new ProgramFailure(`Error: ${errorMessage(reason)}`);
}

function reach({ kubernetes, process, credentials }: Asked, endpoint: string): EtcdConnection {
  try {
    return connectEtcd(kubernetes, process, endpoint, credentials);
  } catch (error) {
    throw new EtcdError(14, `context deadline exceeded: ${errorMessage(error)}`);
  }
}
