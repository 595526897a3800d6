import type { ObjectKey } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

/** What belongs to no cluster is one share of its own. Its owner is the leader. */
export const leaderShare = '';

/** Says to which share objects belong: whatever must have the same owner has the same share. */
export interface ShareMap {
  /** the kind that is counted when somebody asks how much is whose */
  readonly clusters: Resource<KubeObject>;
  shareOf(resource: Resource, object: KubeObject): string;
  /** of an object that is not there, where its key alone tells */
  shareOfMissing(resource: Resource, key: ObjectKey): string | undefined;
}

/** What a controller asks before it works on something. */
export interface ShareGate extends ShareMap {
  mayWork(share: string): boolean;
  /** Notes that work on a share is under way; `abort` asks it to end. Answers how to say that it has ended. */
  begin(share: string, abort: (reason: Error) => void): () => void;
}
