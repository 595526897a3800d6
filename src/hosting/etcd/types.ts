import type { EtcdSettings } from '../facts.ts';

/** What is known of an etcd cluster and the Pods it runs in. */
export interface EtcdObservation {
  /** absent: there is no StatefulSet yet */
  readonly set?: {
    readonly replicas: number;
    readonly image: string;
    readonly settings: EtcdSettings;
  };
  /** what was written down of its members, also where the StatefulSet is gone; absent: they never began */
  readonly recorded?: EtcdSettings;
  /** a backup is to be loaded: what is lost may be begun anew for it */
  readonly restores?: boolean;
  readonly pods: readonly EtcdPod[];
  /** Pods that keep their data in it and are not gone yet */
  readonly users?: number;
  /** claim of each member by the member's name -> its uid; absent: no claim */
  readonly claims: ReadonlyMap<string, string>;
  /** absent: nobody answers */
  readonly members?: readonly EtcdMember[];
  /** a defragmentation is due by its schedule */
  readonly defragmentDue: boolean;
  /** members that had their turn since it is due */
  readonly tidied?: ReadonlySet<string>;
  /** how large the file of a member may grow; absent: not known */
  readonly quotaBytes?: number;
}

export interface EtcdPod {
  /** also the name of the member */
  readonly name: string;
  readonly ready: boolean;
  readonly image: string;
  /** runs what the StatefulSet says now */
  readonly upToDate: boolean;
  readonly terminating: boolean;
  /** it says itself that its data is gone: it was a member and cannot be one again */
  readonly dataLost: boolean;
  /** its data is that of a member that was removed: no member can begin with it */
  readonly dataOutlived?: boolean;
  /** it waits before it tries again, because it was started while it was not a member */
  readonly wasRefused?: boolean;
}

export interface EtcdMember {
  readonly id: string;
  /** empty until it has started for the first time */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
  readonly isLeader: boolean;
  /** answers, has no alarm, takes part */
  readonly healthy: boolean;
  /** a learner that has caught up with the leader */
  readonly inSync: boolean;
  /** of the program, e.g. 3.5.13; absent: not known */
  readonly version?: string;
  readonly dbSize?: number;
  readonly dbSizeInUse?: number;
  readonly alarms: readonly ('NOSPACE' | 'CORRUPT')[];
}

/** The one next thing to do. Each is safe to repeat: what it does is looked up first. */
export type EtcdStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly reason: string; readonly message: string }
  /** write settings and StatefulSet; all members begin at once */
  | { readonly kind: 'bootstrap'; readonly replicas: number; readonly image: string; readonly settings: EtcdSettings }
  /** write the settings only: what members that start anew are to read */
  | { readonly kind: 'settings'; readonly settings: EtcdSettings }
  | { readonly kind: 'add-learner'; readonly name: string; readonly peerUrl: string }
  | { readonly kind: 'promote'; readonly id: string; readonly name: string }
  | { readonly kind: 'move-leader'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly id: string; readonly name: string }
  /** scale the StatefulSet; the settings are right already */
  | { readonly kind: 'scale'; readonly replicas: number }
  /** the claim of a member that left, with the Pod that holds it: its data must not come back */
  | { readonly kind: 'delete-claim'; readonly name: string; readonly uid: string }
  /** delete the Pod, so that it comes back with what the StatefulSet or the settings say now */
  | { readonly kind: 'restart'; readonly name: string }
  | { readonly kind: 'image'; readonly image: string }
  | { readonly kind: 'defragment'; readonly id: string; readonly name: string }
  | { readonly kind: 'disarm'; readonly id: string; readonly alarm: 'NOSPACE' };
