/** Durations on simulated nodes, in milliseconds. */
export interface PodTimings {
  /** pulling an image that is not on the node */
  readonly pull: number;
  /** from the request to the start of the program */
  readonly start: number | (() => number);
  /** running a command in a container */
  readonly exec: number;
}

/** Fast enough to watch, slow enough that events happen in sequence. */
export const podTimings: PodTimings = { pull: 0, start: 100, exec: 5 };
