/**
 * Remembers when each token was last seen valid. Configurations are reconciled often, but a token is checked in the
 * workload cluster only every few minutes.
 */
export interface TokenChecks {
  note(uid: string, token: string, atMs: number): void;
  /** time the token was last seen valid; undefined if never */
  seenAt(uid: string, token: string): number | undefined;
  forget(uid: string): void;
}

export function createTokenChecks(): TokenChecks {
  const seen = new Map<string, { token: string; atMs: number }>();
  return {
    note(uid, token, atMs) {
      seen.set(uid, { token, atMs });
    },
    seenAt(uid, token) {
      const last = seen.get(uid);
      return last?.token === token ? last.atMs : undefined;
    },
    forget(uid) {
      seen.delete(uid);
    },
  };
}
