import { createHash } from 'node:crypto';
import { must } from '../../../machinery/index.ts';
import type { EtcdCluster, EtcdMember } from '../../etcd/etcd-cluster.ts';
import { isOlder, minorOf, minorSteps } from '../../etcd/version.ts';
import type { SimulatedProcess } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { dataFile, readEtcdData } from './data-directory.ts';
import { checkInitialCluster, type EtcdSettings } from './settings.ts';
import { etcdBehind } from './way.ts';

/** Cluster and member of a process. */
export interface Membership {
  readonly etcd: EtcdCluster;
  readonly memberId: string;
  /** its volume is still empty */
  readonly isFresh: boolean;
}

/** Clusters being bootstrapped, by the settings of their first members, until all of these have started. */
export class Bootstraps {
  readonly #clusters = new Map<string, string>();

  find(key: string): string | undefined {
    return this.#clusters.get(key);
  }

  set(key: string, clusterId: string): void {
    this.#clusters.set(key, clusterId);
  }
}

/**
 * Determines the membership of a process: from its volume, from its peers, or as the first member. Throws etcd's
 * errors.
 */
export function findMembership(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  settings: EtcdSettings,
): Membership {
  const data = readEtcdData(process.files.read(dataFile(settings.dataDirectory)));
  if (!data) checkInitialCluster(settings);
  const membership = data
    ? restarted(kubernetes, data)
    : settings.isNewCluster
      ? bootstrapped(kubernetes, process, settings)
      : joined(process, settings);
  checkVersion(membership.etcd, settings.version);
  return membership;
}

function restarted(
  kubernetes: SimulatedKubernetes,
  { clusterId, memberId }: { clusterId: string; memberId: string },
): Membership {
  const etcd = kubernetes.clusters.etcd(clusterId);
  if (!etcd) throw fatal('failed to recover v3 backend from snapshot', `the data of cluster ${clusterId} is damaged`);
  return { etcd, memberId, isFresh: false };
}

/** Returns the cluster of the first peer that answers. */
export function clusterOfPeers(
  process: SimulatedProcess,
  { initialCluster, name }: EtcdSettings,
): EtcdCluster | undefined {
  for (const member of initialCluster) {
    if (member.name === name) continue;
    const { hostname, port } = new URL(member.peerUrl);
    try {
      const way = etcdBehind(process.dial(hostname.replace(/^\[|\]$/g, ''), Number(port) || 2380));
      if (way) return way.endpoint.cluster;
    } catch {
      // Other peers may answer.
    }
  }
  return undefined;
}

function bootstrapped(kubernetes: SimulatedKubernetes, process: SimulatedProcess, settings: EtcdSettings): Membership {
  const { bootstraps, clusters } = kubernetes;
  const key = bootstrapKey(process, settings);
  const known = clusters.etcd(bootstraps.find(key) ?? '');
  const peers = clusterOfPeers(process, settings);
  const own = (etcd: EtcdCluster): EtcdMember | undefined =>
    etcd.members.find(({ peerUrls }) => settings.peerUrls.some((url) => peerUrls.includes(url)));
  if (peers) {
    const member = own(peers);
    if (!member) throw fatal('discovery failed', 'member count is unequal');
    if (member.clientUrls.length > 0) {
      throw fatal('discovery failed', `member ${member.id} has already been bootstrapped`);
    }
    return { etcd: peers, memberId: member.id, isFresh: true };
  }
  const waiting = known && own(known);
  if (known && waiting && waiting.clientUrls.length === 0) {
    return { etcd: known, memberId: waiting.id, isFresh: true };
  }
  const etcd = clusters.createEtcd();
  bootstraps.set(key, etcd.id);
  for (const { name, peerUrl } of settings.initialCluster) {
    etcd.found({ name, peerUrls: [peerUrl], clientUrls: [] });
  }
  return { etcd, memberId: must(own(etcd), 'own(etcd)').id, isFresh: true };
}

function joined(process: SimulatedProcess, settings: EtcdSettings): Membership {
  const etcd = clusterOfPeers(process, settings);
  if (!etcd) {
    throw fatal(
      'discovery failed',
      'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs',
    );
  }
  const listed = settings.initialCluster.map(({ peerUrl }) => peerUrl);
  const { members } = etcd;
  if (members.length !== new Set(settings.initialCluster.map(({ name }) => name)).size) {
    throw fatal('discovery failed', 'error validating peerURLs: member count is unequal');
  }
  const isListed = (url: string): boolean => listed.some((other) => isSameUrl(process, url, other));
  const stranger = members.find(({ peerUrls }) => !peerUrls.some(isListed));
  if (stranger) {
    throw fatal(
      'discovery failed',
      `error validating peerURLs: unmatched member while checking PeerURLs ("${stranger.peerUrls.join(',')}")`,
    );
  }
  const isOwn = (url: string): boolean => settings.peerUrls.some((other) => isSameUrl(process, url, other));
  const own = members.find(({ peerUrls }) => peerUrls.some(isOwn));
  if (!own) throw fatal('discovery failed', 'error validating peerURLs: unmatched member while checking PeerURLs');
  if (own.clientUrls.length > 0) {
    // Its data is lost, although the leader counts on it.
    throw new ProgramFailure(
      `${JSON.stringify({
        level: 'panic',
        msg: `tocommit(${etcd.term + 1}) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?`,
      })}\npanic: member ${own.id} has lost its data; remove it from the cluster and add it anew`,
      2,
    );
  }
  return { etcd, memberId: own.id, isFresh: true };
}

/** Compares URLs as etcd does: names that lead to the same addresses are the same. */
function isSameUrl(process: SimulatedProcess, a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [new URL(a), new URL(b)];
  if (left.port !== right.port || left.protocol !== right.protocol) return false;
  const addresses = process.resolve(right.hostname);
  return process.resolve(left.hostname).some((address) => addresses.includes(address));
}

/** Upgrades go one minor version at a time, and never back. */
function checkVersion({ version }: EtcdCluster, programVersion: string): void {
  if (version === undefined) return;
  const own = minorOf(programVersion);
  if (isOlder(own, version)) {
    throw fatal(
      'invalid downgrade; server version is lower than determined cluster version',
      `current-server-version ${programVersion}, determined-cluster-version ${version}`,
    );
  }
  if (minorSteps(version, own) > 1) {
    throw fatal(
      'failed to start etcd',
      `incompatible with current running cluster: version ${programVersion} cannot follow cluster version ${version}, minor versions must be taken one by one`,
    );
  }
}

function bootstrapKey({ namespace }: SimulatedProcess, { token, initialCluster }: EtcdSettings): string {
  const urls = initialCluster.map(({ peerUrl }) => peerUrl).sort();
  return createHash('sha256')
    .update([namespace, token, ...urls].join('\n'))
    .digest('base64url');
}

export function fatal(msg: string, error: string): ProgramFailure {
  return new ProgramFailure(JSON.stringify({ level: 'fatal', msg, error }));
}
