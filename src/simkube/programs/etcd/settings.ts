import type { SimulatedProcess } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { type Flags, type FlagTable, flagValue, isSwitchedOn, names, parseFlags } from '../flags.ts';
import { versionInTag } from '../image.ts';

/** Member of the initial cluster. */
export interface InitialMember {
  readonly name: string;
  readonly peerUrl: string;
}

/** Settings of a member. */
export interface EtcdSettings {
  readonly name: string;
  readonly dataDirectory: string;
  readonly version: string;
  readonly initialCluster: readonly InitialMember[];
  readonly isNewCluster: boolean;
  readonly token: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly listenClientUrls: readonly URL[];
  readonly listenPeerUrls: readonly URL[];
  readonly listenMetricsUrls: readonly URL[];
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly trustedFile: string | undefined;
  readonly wantsClientCertificates: boolean;
  /** certificate files for peer authentication */
  readonly peerFiles: readonly string[];
}

const valued = names(`
  name data-dir wal-dir snapshot-count heartbeat-interval election-timeout listen-peer-urls listen-client-urls
  listen-client-http-urls max-snapshots max-wals quota-backend-bytes backend-batch-interval backend-batch-limit
  backend-bbolt-freelist-type max-txn-ops max-request-bytes max-concurrent-streams grpc-keepalive-min-time
  grpc-keepalive-interval grpc-keepalive-timeout initial-advertise-peer-urls initial-cluster initial-cluster-state
  initial-cluster-token advertise-client-urls discovery discovery-fallback discovery-proxy discovery-srv
  discovery-srv-name discovery-token discovery-endpoints discovery-dial-timeout discovery-request-timeout
  auto-compaction-retention auto-compaction-mode v2-deprecation cert-file key-file client-crl-file
  client-cert-allowed-hostname trusted-ca-file peer-cert-file peer-key-file peer-trusted-ca-file peer-cert-allowed-cn
  peer-cert-allowed-hostname self-signed-cert-validity peer-crl-file cipher-suites tls-min-version tls-max-version cors
  host-whitelist logger log-outputs log-level log-format log-rotation-config-json config-file metrics
  listen-metrics-urls auth-token bcrypt-cost auth-token-ttl feature-gates corrupt-check-time compact-hash-check-time
  watch-progress-notify-interval warning-apply-duration warning-unary-request-duration max-learners
  snapshot-catchup-entries compaction-batch-limit compaction-sleep-interval downgrade-check-time
  bootstrap-defrag-threshold-megabytes distributed-tracing-address distributed-tracing-service-name
  distributed-tracing-instance-id distributed-tracing-sampling-rate client-key-file client-cert-file
  peer-client-key-file peer-client-cert-file`);

const switches = names(`
  version initial-election-tick-advance socket-reuse-port socket-reuse-address strict-reconfig-check pre-vote enable-v2
  client-cert-auth auto-tls peer-client-cert-auth peer-auto-tls enable-log-rotation enable-pprof enable-grpc-gateway
  force-new-cluster unsafe-no-fsync peer-skip-client-san-verification memory-mlock initial-corrupt-check
  enable-distributed-tracing compact-hash-check-enabled stop-grpc-service-on-defrag tx-mode-write-with-shared-buffer
  enable-lease-checkpoint`);

const table: FlagTable = {
  valued: new Set(valued),
  switches: new Set(switches),
  families: ['experimental-'],
  unknown: (name) => new ProgramFailure(`flag provided but not defined: -${name}\nUsage:\n  etcd [flags]`, 2),
  missing: (name) => new ProgramFailure(`flag needs an argument: -${name}`, 2),
};

/** Throws etcd's errors for an invalid configuration. */
export function etcdSettings(process: SimulatedProcess): EtcdSettings {
  const { argv, env, image } = process;
  const { flags: given, words } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), table);
  if (words.length > 0) throw fatal(`"${words[0]}" is not a valid command line flag`);
  const flags = withEnvironment(given, env);
  const value = (name: string, otherwise = ''): string => flagValue(flags, name) || otherwise;
  const name = value('name', 'default');
  const state = value('initial-cluster-state', 'new');
  if (state !== 'new' && state !== 'existing') {
    throw fatal(`invalid value "${state}" for flag -initial-cluster-state: must be one of: new, existing`);
  }
  const peerUrls = urls(flags, 'initial-advertise-peer-urls', 'http://localhost:2380').map(urlText);
  const initialCluster = parseInitialCluster(value('initial-cluster', `${name}=${peerUrls[0]}`));
  return {
    name,
    dataDirectory: value('data-dir', `/${name}.etcd`),
    version: versionInTag(image) ?? '3.6.4',
    initialCluster,
    isNewCluster: state === 'new',
    token: value('initial-cluster-token', 'etcd-cluster'),
    peerUrls,
    clientUrls: urls(flags, 'advertise-client-urls', 'http://localhost:2379').map(urlText),
    listenClientUrls: urls(flags, 'listen-client-urls', 'http://localhost:2379'),
    listenPeerUrls: urls(flags, 'listen-peer-urls', 'http://localhost:2380'),
    listenMetricsUrls: urls(flags, 'listen-metrics-urls', ''),
    certificateFile: flagValue(flags, 'cert-file'),
    keyFile: flagValue(flags, 'key-file'),
    trustedFile: flagValue(flags, 'trusted-ca-file'),
    wantsClientCertificates: isSwitchedOn(flags, 'client-cert-auth'),
    peerFiles: ['peer-cert-file', 'peer-key-file', 'peer-trusted-ca-file'].flatMap(
      (flag) => flagValue(flags, flag) ?? [],
    ),
  };
}

/** Checks the initial cluster of a member without data; a restarted one ignores it. */
export function checkInitialCluster({ name, initialCluster, peerUrls, isNewCluster }: EtcdSettings): void {
  const own = initialCluster.filter((member) => member.name === name).map(({ peerUrl }) => peerUrl);
  if (own.length === 0) {
    throw fatal(`couldn't find local name "${name}" in the initial cluster configuration`);
  }
  if (isNewCluster && [...own].sort().join() !== [...peerUrls].sort().join()) {
    throw fatal(
      `--initial-cluster has ${name}=${own.join(',')} but missing from --initial-advertise-peer-urls=${peerUrls.join(',')} (failed to resolve "${peerUrls[0]}" to match --initial-cluster=${name}=${own[0]})`,
    );
  }
}

/** Adds flags from environment variables. The command line takes precedence. */
function withEnvironment(given: Flags, env: Readonly<Record<string, string>>): Flags {
  const flags = new Map(given);
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('ETCD_') || value === '') continue;
    const name = variable.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-');
    const isKnown = table.valued.has(name) || table.switches.has(name);
    if (isKnown && !flags.has(name)) flags.set(name, [value]);
  }
  return flags;
}

function urls(flags: Flags, name: string, otherwise: string): URL[] {
  const text = flagValue(flags, name) || otherwise;
  return text
    .split(',')
    .filter((item) => item !== '')
    .map((item) => {
      if (!URL.canParse(item) || !/^https?:|^unix/.test(item)) {
        throw new ProgramFailure(
          `invalid value "${text}" for flag -${name}: URL scheme must be http, https, unix, or unixs: ${item}`,
          2,
        );
      }
      return new URL(item);
    });
}

function urlText(url: URL): string {
  return url.href.replace(/\/$/, '');
}

function parseInitialCluster(text: string): InitialMember[] {
  return text
    .split(',')
    .filter((item) => item !== '')
    .map((item) => {
      const mark = item.indexOf('=');
      if (mark <= 0 || !URL.canParse(item.slice(mark + 1))) {
        throw fatal(`error setting up initial cluster: invalid initial-cluster entry "${item}"`);
      }
      return { name: item.slice(0, mark), peerUrl: item.slice(mark + 1).replace(/\/$/, '') };
    });
}

function fatal(error: string): ProgramFailure {
  return new ProgramFailure(JSON.stringify({ level: 'fatal', msg: 'failed to verify flags', error }));
}
