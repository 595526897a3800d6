/** A control-plane machine, as far as it may hold the floating IP of the API. */
export interface Candidate {
  readonly name: string;
  /** RFC 3339; the oldest comes first where nothing else decides */
  readonly createdAt: string;
  /** port the address would lead to; undefined while there is none */
  readonly portId: string | undefined;
  /** it is being deleted */
  readonly isLeaving: boolean;
  /** a rollout is about to replace it */
  readonly isOutdated: boolean;
  /** its server is ACTIVE */
  readonly isRunning: boolean;
  /** its Node has been seen */
  readonly hasJoined: boolean;
  /** whether its API server answers; undefined when nobody can tell */
  readonly answers: boolean | undefined;
}

/** Where the address shall be. */
export type Holding =
  /** where it is, or there is nobody who could have it */
  | { readonly kind: 'stay' }
  | { readonly kind: 'give'; readonly to: Candidate & { readonly portId: string } }
  /** somebody put it on a port that is none of the cluster's control plane */
  | { readonly kind: 'foreign'; readonly portId: string };

const stay: Holding = { kind: 'stay' };

/**
 * Decides which machine the API's floating IP leads to. It stays where it is as long as that machine serves; it leaves a
 * machine that goes, stands still or no longer answers, and only for one that is known to be able to take over.
 */
export function chooseHolder(currentPortId: string | undefined, candidates: readonly Candidate[]): Holding {
  if (currentPortId === undefined) return firstHolder(candidates);
  const holder = candidates.find(({ portId }) => portId === currentPortId);
  if (!holder) return { kind: 'foreign', portId: currentPortId };
  if (!holder.isLeaving && holder.isRunning && holder.answers !== false) return stay;
  const successors = candidates.filter(
    (other) =>
      other !== holder &&
      other.isRunning &&
      !other.isLeaving &&
      // while the holder stands still nobody can be asked, because all are asked through it: having joined must do
      (other.answers === true || (!holder.isRunning && other.hasJoined && other.answers !== false)),
  );
  return give(successors);
}

/** Nobody has the address: nothing can get worse. The first machine of a cluster gets it before its API answers. */
function firstHolder(candidates: readonly Candidate[]): Holding {
  const running = candidates.filter(({ isRunning }) => isRunning);
  const staying = give(running.filter(({ isLeaving }) => !isLeaving));
  return staying.kind === 'give' ? staying : give(running.filter(({ hasJoined }) => hasJoined));
}

function give(candidates: readonly Candidate[]): Holding {
  const able = candidates.filter(
    (candidate): candidate is Candidate & { portId: string } => candidate.portId !== undefined,
  );
  const [best] = able.toSorted(byAptitude);
  return best ? { kind: 'give', to: best } : stay;
}

function byAptitude(a: Candidate, b: Candidate): number {
  return (
    Number(b.answers === true) - Number(a.answers === true) ||
    Number(b.hasJoined) - Number(a.hasJoined) ||
    // the address would soon have to move again
    Number(a.isOutdated) - Number(b.isOutdated) ||
    compare(a.createdAt, b.createdAt) ||
    compare(a.name, b.name)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
