import { type CertificateAndKey, isMatchingPair } from '../../../pki/index.ts';
import type { EtcdEndpoint } from '../../etcd/endpoint.ts';
import { createEtcdServer } from '../../etcd/grpc-server.ts';
import { answerHealth } from '../../etcd/health.ts';
import { EtcdKeys } from '../../etcd/keys.ts';
import { httpService } from '../../http-service.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../process.ts';
import type { PortService } from '../../types.ts';
import { versionInTag } from '../image.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { between, type Closing, followedPair, program, requiredFile, untilStopped } from '../running.ts';
import { dataFile, writeEtcdData } from './data-directory.ts';
import { clusterOfPeers, fatal, findMembership, type Membership } from './membership.ts';
import { type EtcdSettings, etcdSettings } from './settings.ts';
import { type EtcdWay, markEtcd } from './way.ts';

/** Connections that requested the removal still wait for their response. */
const removedLingersMs = 1_000;
const peerCheckMs = 5_000;

/** etcd, as one member of its cluster. */
export function etcdProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    if (process.argv.includes('--version') || process.argv.includes('-version')) {
      process.log(`etcd Version: ${versionInTag(process.image) ?? '3.6.4'}`);
      return 0;
    }
    const settings = etcdSettings(process);
    const say = (level: string, msg: string, more: Readonly<Record<string, unknown>> = {}): void =>
      process.log(JSON.stringify({ level, ts: new Date(process.clock.now()).toISOString(), msg, ...more }));
    say('info', 'Running: ', { args: process.argv });
    const serving = readServing(process, settings);
    await process.pass(between(process, 100, 300));
    const membership = findMembership(kubernetes, process, settings);
    const { etcd, memberId } = membership;
    if (!etcd.member(memberId)) return removed(process, say, memberId);
    const endpoint: EtcdEndpoint = {
      cluster: etcd,
      memberId,
      version: settings.version,
      data: new EtcdKeys(kubernetes.clusters, etcd),
    };
    // From now on peers find this member. This keeps two members that start together from creating two clusters.
    listenToPeers(kubernetes, process, { closing, settings, endpoint });
    const { name, clientUrls, version } = settings;
    etcd.start(memberId, { name, clientUrls, version });
    closing.add(() => etcd.stop(memberId));
    if (membership.isFresh) await settle(kubernetes, process, settings, membership);
    listenToClients(kubernetes, process, { closing, settings, endpoint, serving });
    say('info', 'ready to serve client requests', { 'local-member-id': memberId, 'cluster-id': etcd.id });
    const gone = removal(membership, closing);
    await Promise.race([untilStopped(process), gone]);
    return process.signal.aborted ? 0 : removed(process, say, memberId);
  });
}

interface Serving {
  readonly pair: Readonly<CertificateAndKey>;
  readonly authority?: string;
}

function readServing(process: SimulatedProcess, settings: EtcdSettings): Serving | undefined {
  const problem = (reason: string): Error => fatal('discovery failed', reason);
  for (const path of settings.peerFiles) requiredFile(process, path, problem);
  const isSecure = settings.listenClientUrls.some(({ protocol }) => protocol === 'https:');
  if (!isSecure) return undefined;
  const { certificateFile, keyFile, trustedFile, wantsClientCertificates } = settings;
  if (certificateFile === undefined || keyFile === undefined) {
    throw problem(`KeyFile and CertFile must both be present[key: ${keyFile ?? ''}, cert: ${certificateFile ?? ''}]`);
  }
  const certificate = requiredFile(process, certificateFile, problem);
  const privateKey = requiredFile(process, keyFile, problem);
  const authority = trustedFile === undefined ? undefined : requiredFile(process, trustedFile, problem);
  const demands = wantsClientCertificates || trustedFile !== undefined;
  if (!isMatchingPair(certificate, privateKey)) throw problem('tls: private key does not match public key');
  const paths = { certificate: certificateFile, privateKey: keyFile };
  const pair = followedPair(process, paths, { certificate, privateKey });
  return { pair, ...(demands && authority !== undefined && { authority }) };
}

/** Writes the identity to the volume once the cluster has a quorum. Before that the volume stays empty. */
async function settle(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  settings: EtcdSettings,
  { etcd, memberId }: Membership,
): Promise<void> {
  const agreed = etcd.hasQuorum ? undefined : agreement(process, etcd);
  while (!etcd.hasQuorum) {
    await Promise.race([process.pass(peerCheckMs), agreed]);
    process.signal.throwIfAborted();
    // Peers that were unreachable may turn out to have a cluster already.
    const others = clusterOfPeers(process, settings);
    if (others && others !== etcd) throw fatal('discovery failed', `member ${memberId} has already been bootstrapped`);
  }
  const { clusters } = kubernetes;
  clusters.claim(etcd.id, memberId);
  await clusters.saved(etcd.id);
  const text = writeEtcdData({ clusterId: etcd.id, memberId });
  process.files.write(dataFile(settings.dataDirectory), text, 0o600);
}

/** Resolves when enough members run, or the program must exit. */
function agreement({ signal }: SimulatedProcess, etcd: Membership['etcd']): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = etcd.onChange(() => {
      if (etcd.hasQuorum) end();
    });
    signal.addEventListener('abort', end, { once: true });
  });
}

function listenToPeers(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  { closing, settings, endpoint }: { closing: Closing; settings: EtcdSettings; endpoint: EtcdEndpoint },
): void {
  const service = markEtcd(localOnly(), wayTo(kubernetes, endpoint));
  for (const port of portsOf(settings.listenPeerUrls, 2380)) closing.add(process.listen(port, service));
}

interface EtcdListener {
  readonly closing: Closing;
  readonly settings: EtcdSettings;
  readonly endpoint: EtcdEndpoint;
  readonly serving: Serving | undefined;
}

function listenToClients(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  { closing, settings, endpoint, serving }: EtcdListener,
): void {
  const get = async (path: string): Promise<{ status: number; body: string }> => answerHealth(endpoint, path);
  for (const port of portsOf(settings.listenMetricsUrls, 2381)) closing.add(process.listen(port, httpService(get)));
  const secure = settings.listenClientUrls.filter(({ protocol }) => protocol === 'https:');
  const plain = settings.listenClientUrls.filter(({ protocol }) => protocol === 'http:');
  if (serving) {
    const { pair, authority } = serving;
    const server = createEtcdServer(endpoint, {
      get certificate() {
        return pair.certificate;
      },
      get privateKey() {
        return pair.privateKey;
      },
      ...(authority !== undefined && { authority }),
    });
    closing.add(() => server.close());
    const service: PortService = { get, accept: (socket) => server.accept(socket) };
    markEtcd(service, {
      ...wayTo(kubernetes, endpoint),
      get serving() {
        return pair.certificate;
      },
      ...(authority !== undefined && { clientAuthorities: authority }),
    });
    for (const port of portsOf(secure, 2379)) closing.add(process.listen(port, service));
  }
  for (const port of portsOf(plain, 2379)) {
    closing.add(process.listen(port, markEtcd(httpService(get), wayTo(kubernetes, endpoint))));
  }
}

function wayTo({ clusters }: SimulatedKubernetes, endpoint: EtcdEndpoint): EtcdWay {
  return { endpoint, keyspace: (prefix) => clusters.keyspace(endpoint.cluster.id, prefix) };
}

function portsOf(urls: readonly URL[], otherwise: number): number[] {
  return [...new Set(urls.map(({ port }) => Number(port) || otherwise))];
}

/** Resolves when the other members have removed this one. */
function removal({ etcd, memberId }: Membership, closing: Closing): Promise<void> {
  return new Promise((resolve) => {
    closing.add(
      etcd.onChange(() => {
        if (!etcd.member(memberId)) resolve();
      }),
    );
  });
}

async function removed(
  process: SimulatedProcess,
  say: (level: string, msg: string, more?: Readonly<Record<string, unknown>>) => void,
  memberId: string,
): Promise<number> {
  say('error', 'server has been permanently removed from the cluster', { 'local-member-id': memberId });
  await process.pass(removedLingersMs);
  return 0;
}
