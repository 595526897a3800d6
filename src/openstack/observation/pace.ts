/** Spreads routine requests evenly, so that a fleet at rest costs a cloud next to nothing. */
export interface Pace {
  /** books `requests` and returns how long to wait, in ms, until it is their turn */
  book(now: number, requests: number): number;
}

/** At most this many requests per second on average; shared by all observers of a cloud. */
export function createPace(requestsPerSecond: number): Pace {
  let free = 0;
  return {
    book(now, requests) {
      const start = Math.max(now, free);
      free = start + (requests * 1000) / requestsPerSecond;
      return start - now;
    },
  };
}
