import { errorMessage } from '../../../machinery/index.ts';
import { dialWords } from '../../dial-words.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../process.ts';
import { openOwnStore } from '../etcd/own-store.ts';
import { type EtcdWay, etcdBehind, markEtcd } from '../etcd/way.ts';
import { ProgramFailure } from '../failure.ts';
import { type FlagTable, flagValue, names, parseFlags } from '../flags.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { between, type Closing, program, requiredFile, untilStopped } from '../running.ts';
import { parseDataSource } from './source.ts';

const table: FlagTable = {
  valued: new Set(
    names(`
      endpoint listen-address ca-file cert-file key-file server-cert-file server-key-file metrics-bind-address
      datastore-max-idle-connections datastore-max-open-connections datastore-connection-max-lifetime
      slow-sql-threshold compact-interval compact-timeout compact-min-retain compact-batch-size poll-batch-size
      notify-interval watch-progress-notify-interval emulated-etcd-version`),
  ),
  switches: new Set(names('debug skip-verify metrics-enable-profiling')),
  unknown: (name) => new ProgramFailure(`flag provided but not defined: -${name}`),
  missing: (name) => new ProgramFailure(`flag needs an argument: -${name}`),
};

const retryMs = 1_000;
const attempts = 30;

/** kine: serves the etcd API and stores everything in a database. */
export function kineProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv } = process;
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), table);
    for (const name of ['ca-file', 'cert-file', 'key-file']) {
      const path = flagValue(flags, name);
      if (path) requiredFile(process, path, (reason) => new ProgramFailure(`level=fatal msg="Error: ${reason}"`));
    }
    await process.pass(between(process, 50, 150));
    const way = await openDataSource(kubernetes, process, closing, flagValue(flags, 'endpoint') ?? '');
    const listen = flagValue(flags, 'listen-address') ?? '0.0.0.0:2379';
    const service = markEtcd(localOnly(), way);
    if (listen.startsWith('unix://')) {
      closing.add(kubernetes.listenLocally(process, listen.slice('unix://'.length), service));
    } else closing.add(process.listen(Number(/:(\d+)$/.exec(listen)?.[1] ?? 2379), service));
    process.log(`level=info msg="Kine available at ${listen}"`);
    await untilStopped(process);
    return 0;
  });
}

/** Opens the keys of a database schema. Waits for the database. */
export async function openDataSource(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  closing: Closing,
  text: string,
): Promise<EtcdWay> {
  const source = parseDataSource(text);
  if (!source) throw new ProgramFailure('level=fatal msg="building kine: unsupported storage backend"');
  if (source.kind === 'sqlite') return await openOwnStore(kubernetes, process, closing, { directory: '/db' });
  const { host, port, schema } = source;
  let reason = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await process.pass(retryMs);
    try {
      const way = etcdBehind(process.dial(host, port));
      if (way) return { endpoint: way.endpoint, keyspace: () => way.keyspace(`/${schema}`) };
      reason = `what answers at ${host}:${port} is no database`;
    } catch (error) {
      reason = `dial tcp ${host}:${port}: ${dialWords(error) || errorMessage(error)}`;
    }
  }
  throw new ProgramFailure(`level=fatal msg="building kine: setting up database: ${reason}"`);
}
