import type { PlaneNaming } from '../naming/types.ts';
import type { EtcdClusterSpec } from '../spec.ts';

/** More members make etcd slower, not safer. */
export const maxEtcdMembers = 5;

export const etcdClientPort = 2379;
export const etcdPeerPort = 2380;
export const etcdMetricsPort = 2381;

export const memberName = (naming: PlaneNaming, index: number): string => `${naming.etcd}-${index}`;

/** Index at the end of a member name; undefined for foreign names. */
export function memberIndex(naming: PlaneNaming, name: string): number | undefined {
  const match = /^(.*)-(\d+)$/.exec(name);
  return match && match[1] === naming.etcd ? Number(match[2]) : undefined;
}

/** URL at which members reach each other. */
export function peerUrl(desired: Pick<EtcdClusterSpec, 'naming' | 'identity'>, name: string): string {
  return `https://${name}.${desired.naming.etcdService}.${desired.identity.namespace}.svc:${etcdPeerPort}`;
}

/** value of ETCD_INITIAL_CLUSTER */
export function initialCluster(
  desired: Pick<EtcdClusterSpec, 'naming' | 'identity'>,
  names: readonly string[],
  registered: (name: string) => string | undefined = () => undefined,
): string {
  return names.map((name) => `${name}=${registered(name) ?? peerUrl(desired, name)}`).join(',');
}

export const claimName = (naming: PlaneNaming, member: string): string => `${naming.etcdVolume}-${member}`;

/**
 * Rounds the member count up to an odd number from 1 to 5: an additional even member adds only one more that can fail.
 */
export function etcdMembersFor(replicas: number): number {
  return Math.min(maxEtcdMembers, Math.max(1, replicas % 2 === 0 ? replicas + 1 : replicas));
}
