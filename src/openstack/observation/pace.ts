/** Spreads routine requests evenly, so that an idle fleet causes almost no load on the cloud. */
export interface Pace {
  /** books `requests` and returns the time to wait for their turn, in ms */
  book(now: number, requests: number): number;
}

/** Limits the average request rate; shared by all observers of a cloud. */
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
