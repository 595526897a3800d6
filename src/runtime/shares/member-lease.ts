import { type Clock, formatMicroTime } from '../../machinery/index.ts';
import type { Lease } from '../leader-election.ts';
import type { Announcement, View } from './membership.ts';

/** On the leases of processes that share the work: whose they are. */
export const memberLabel = 'shares.capstan.dev/of';
/** On such a lease: the members its holder reckons with; without any while it leaves. */
const viewAnnotation = 'shares.capstan.dev/members';
/** On such a lease: how many clusters its holder works on. */
const clustersAnnotation = 'shares.capstan.dev/clusters';

export interface MemberLeaseOptions {
  namespace: string;
  /** of the installation: its members find each other by it */
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

/** The lease as it is written; `base` is what is there. */
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

/** What a lease says; undefined when it is nobody's. */
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
