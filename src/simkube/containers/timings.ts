/** How long things take on simulated nodes, in milliseconds. */
export interface PodTimings {
  /** fetching an image the node does not have yet */
  readonly pull: number;
  /** from the request to the first instruction of a container */
  readonly start: number | (() => number);
  /** the answer of a command run in a container */
  readonly exec: number;
}

/** Quick enough to watch, slow enough that things happen one after the other. */
export const podTimings: PodTimings = { pull: 0, start: 100, exec: 5 };
