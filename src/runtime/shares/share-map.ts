import type { ObjectKey } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

/** Share of everything outside of clusters. Its owner is the leader. */
export const leaderShare = '';

/** Maps objects to shares. Objects that need the same owner must have the same share. */
export interface ShareMap {
  /** the kind that is counted to report the number of clusters per process */
  readonly clusters: Resource<KubeObject>;
  shareOf(resource: Resource, object: KubeObject): string;
  /** share of an object that does not exist, if its key is sufficient */
  shareOfMissing(resource: Resource, key: ObjectKey): string | undefined;
}

/** Decides what a controller may work on. */
export interface ShareGate extends ShareMap {
  mayWork(share: string): boolean;
  /** Records that work on a share starts; `abort` asks it to end. Returns a function to call when it has ended. */
  begin(share: string, abort: (reason: Error) => void): () => void;
}
