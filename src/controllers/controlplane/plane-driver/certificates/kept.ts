import type { AuthorityName, Rotatable } from '../../../../hosting/index.ts';
import type { CertificateAndKey } from '../../../../pki/index.ts';
import { type PlaneState, rotationOf, withRotation } from '../state.ts';

// Keeps copies of key pairs that others rely on in the state of the plane, and restores deleted Secrets from there. A
// pair missing in both places is replaced only on request.

/** Decides whether a lost CA may be replaced. */
export interface Losses {
  /** remedy for the user if something relies on the lost CA; undefined if nothing does */
  cure(name: AuthorityName): string | undefined;
  /** id of the user's request for a replacement, unique per request */
  request(name: Rotatable): string | undefined;
}

/** Findings of one reconcile about the pairs of a plane. */
export interface Keeping {
  /** current pairs, without user-supplied ones */
  readonly pairs: Partial<Record<Rotatable, CertificateAndKey>>;
  /** Secrets restored from the copy */
  readonly putBack: string[];
  /** lost pairs that were replaced on request */
  readonly begun: { readonly name: Rotatable; readonly secret: string; readonly request: string }[];
}

/** Adds the pairs to the state; returns the same object if nothing changed. */
export function withKept(state: PlaneState, { pairs, begun }: Keeping, nowMs: number): PlaneState {
  let next = state;
  for (const { name, request } of begun) {
    next = withRotation(next, name, { record: { phase: 'stable', request, since: nowMs } });
  }
  const changed = (Object.keys(pairs) as Rotatable[]).some((name) => !isSame(state.kept?.[name], pairs[name]));
  return changed ? { ...next, kept: { ...next.kept, ...pairs } } : next;
}

const isSame = (a: CertificateAndKey | undefined, b: CertificateAndKey | undefined): boolean =>
  a?.certificate === b?.certificate && a?.privateKey === b?.privateKey;

/** Returns a replacement request that is not yet handled. */
export function newRequest(state: PlaneState, losses: Losses, name: Rotatable): string | undefined {
  const request = losses.request(name);
  return request === rotationOf(state, name).record.request ? undefined : request;
}
