/** A control plane machine that may hold the floating IP of the API. */
export interface Candidate {
  readonly name: string;
  /** RFC 3339; among equals the oldest wins */
  readonly createdAt: string;
  /** port to attach the address to; undefined while there is none */
  readonly portId: string | undefined;
  /** being deleted */
  readonly isLeaving: boolean;
  /** about to be replaced by a rollout */
  readonly isOutdated: boolean;
  /** its server is ACTIVE */
  readonly isRunning: boolean;
  /** its Node exists */
  readonly hasJoined: boolean;
  /** whether its API server answers; undefined if unknown */
  readonly answers: boolean | undefined;
}

/** Decision about the floating IP. */
export type Holding =
  /** already in place, or no candidate */
  | { readonly kind: 'stay' }
  | { readonly kind: 'give'; readonly to: Candidate & { readonly portId: string } }
  /** attached to a port outside of the cluster's control plane */
  | { readonly kind: 'foreign'; readonly portId: string };

const stay: Holding = { kind: 'stay' };

/**
 * Decides which machine holds the API's floating IP. It stays as long as its machine serves the API. It leaves a
 * machine that is deleted, stopped or no longer answers, but only for one known to be able to serve.
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
      // while the holder is stopped no API server can be probed, because probes use this address; a joined Node is
      // enough then
      (other.answers === true || (!holder.isRunning && other.hasJoined && other.answers !== false)),
  );
  return give(successors);
}

/**
 * Picks the first holder. The address is unused, so any choice is safe; the first machine gets it before its API
 * answers.
 */
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
    // an outdated machine would have to hand it over soon
    Number(a.isOutdated) - Number(b.isOutdated) ||
    compare(a.createdAt, b.createdAt) ||
    compare(a.name, b.name)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
