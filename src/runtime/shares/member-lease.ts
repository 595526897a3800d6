import { type Clock, formatMicroTime } from '../../machinery/index.ts';
import type { Lease } from '../lease.ts';
import type { Announcement, View } from './membership.ts';

/** Label of the leases of processes that share the work; its value is the installation. */
export const memberLabel = 'shares.capstan.dev/of';
/** Annotation of such a lease: the members its holder counts; empty while it leaves. */
const viewAnnotation = 'shares.capstan.dev/members';
/** Annotation of such a lease: number of clusters its holder handles. */
const clustersAnnotation = 'shares.capstan.dev/clusters';

export interface MemberLeaseOptions {
  namespace: string;
  /** name of the installation, by which its members find each other */
  name: string;
  /** unique per process */
  identity: string;
  leaseDurationMs: number;
}

export function memberSelector({ name }: Pick<MemberLeaseOptions, 'name'>): string {
  return `${memberLabel}=${name}`;
}

export function memberLeaseName({ name, identity }: Pick<MemberLeaseOptions, 'name' | 'identity'>): string {
  return `${name}-${identity}`;
}

/** Builds the lease to write; `base` is the stored one. */
export function memberLease(
  options: MemberLeaseOptions,
  state: { base: Lease | undefined; view: View; clusters: number; clock: Clock },
): Lease {
  const { base, view, clusters, clock } = state;
  const now = formatMicroTime(clock.now());
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...base?.metadata,
      namespace: options.namespace,
      name: memberLeaseName(options),
      labels: { ...base?.metadata.labels, [memberLabel]: options.name },
      annotations: {
        ...base?.metadata.annotations,
        [viewAnnotation]: view.join(','),
        [clustersAnnotation]: String(clusters),
      },
    },
    spec: {
      holderIdentity: options.identity,
      leaseDurationSeconds: Math.ceil(options.leaseDurationMs / 1000),
      acquireTime: base?.spec?.acquireTime ?? now,
      renewTime: now,
    },
  };
}

/** Parses a lease; undefined if it has no holder. */
export function announcementOf({ metadata, spec }: Lease): Announcement | undefined {
  const id = spec?.holderIdentity ?? '';
  if (id === '') return undefined;
  const view = (metadata.annotations?.[viewAnnotation] ?? '').split(',').filter((member) => member !== '');
  return {
    id,
    view,
    leaseMs: (spec?.leaseDurationSeconds ?? 0) * 1000,
    resourceVersion: metadata.resourceVersion ?? '',
  };
}
