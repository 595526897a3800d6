/**
 * When the tokens of configurations were seen good. A configuration is looked at for many reasons; its token needs a look at
 * the workload cluster only every few minutes.
 */
export interface TokenChecks {
  note(uid: string, token: string, atMs: number): void;
  /** when it was seen good, undefined for a token that was not */
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
