import type { EtcdSettings } from '../facts.ts';

/** Observed state of an etcd cluster and its Pods. */
export interface EtcdObservation {
  /** absent without a StatefulSet */
  readonly set?: {
    readonly replicas: number;
    readonly image: string;
    readonly settings: EtcdSettings;
  };
  /** recorded member settings, even if the StatefulSet is gone; absent if etcd never started */
  readonly recorded?: EtcdSettings;
  /** a restore is pending, so lost members may be recreated empty */
  readonly restores?: boolean;
  readonly pods: readonly EtcdPod[];
  /** number of Pods that store data in it */
  readonly users?: number;
  /** uid of each member's claim by member name; absent without a claim */
  readonly claims: ReadonlyMap<string, string>;
  /** absent if no member answers */
  readonly members?: readonly EtcdMember[];
  /** a defragmentation is due by schedule */
  readonly defragmentDue: boolean;
  /** members already defragmented in this round */
  readonly tidied?: ReadonlySet<string>;
  /** quota of a member's file; absent if unknown */
  readonly quotaBytes?: number;
}

export interface EtcdPod {
  /** also the member name */
  readonly name: string;
  readonly ready: boolean;
  readonly image: string;
  /** has the current revision of the StatefulSet */
  readonly upToDate: boolean;
  readonly terminating: boolean;
  /** its log says that the data is gone, so it cannot rejoin as the same member */
  readonly dataLost: boolean;
  /** its data belongs to a removed member, so no member can start with it */
  readonly dataOutlived?: boolean;
  /** in restart back-off, because it was started before it was a member */
  readonly wasRefused?: boolean;
}

export interface EtcdMember {
  readonly id: string;
  /** empty until its first start */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
  readonly isLeader: boolean;
  /** answers, has no alarm, takes part */
  readonly healthy: boolean;
  /** a learner that has caught up with the leader */
  readonly inSync: boolean;
  /** etcd version, for example 3.5.13; absent if unknown */
  readonly version?: string;
  readonly dbSize?: number;
  readonly dbSizeInUse?: number;
  readonly alarms: readonly ('NOSPACE' | 'CORRUPT')[];
}

/** The next step. Every step is safe to repeat. */
export type EtcdStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly reason: string; readonly message: string }
  /** write settings and StatefulSet; all members start together */
  | { readonly kind: 'bootstrap'; readonly replicas: number; readonly image: string; readonly settings: EtcdSettings }
  /** write only the settings that restarted members read */
  | { readonly kind: 'settings'; readonly settings: EtcdSettings }
  | { readonly kind: 'add-learner'; readonly name: string; readonly peerUrl: string }
  | { readonly kind: 'promote'; readonly id: string; readonly name: string }
  | { readonly kind: 'move-leader'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly id: string; readonly name: string }
  /** scale the StatefulSet; the settings already match */
  | { readonly kind: 'scale'; readonly replicas: number }
  /** delete the claim and Pod of a removed member, so that its data is not reused */
  | { readonly kind: 'delete-claim'; readonly name: string; readonly uid: string }
  /** delete the Pod, so that it restarts with the current StatefulSet and settings */
  | { readonly kind: 'restart'; readonly name: string }
  | { readonly kind: 'image'; readonly image: string }
  | { readonly kind: 'defragment'; readonly id: string; readonly name: string }
  | { readonly kind: 'disarm'; readonly id: string; readonly alarm: 'NOSPACE' };
