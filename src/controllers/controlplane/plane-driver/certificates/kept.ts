import type { AuthorityName, Rotatable } from '../../../../hosting/index.ts';
import type { CertificateAndKey } from '../../../../pki/index.ts';
import { type PlaneState, rotationOf, withRotation } from '../state.ts';

// Secrets get deleted. A pair that others rely on is kept a second time in the state of the plane, and put back from there; one
// that is in neither place is not replaced without being asked.

/** What decides whether an authority that is nowhere to be found may simply be made. */
export interface Losses {
  /** what people can do when it is gone, where somebody relies on what it signed; undefined: nobody does */
  cure(name: AuthorityName): string | undefined;
  /** people ask for another one, under a name that is new for every request */
  request(name: Rotatable): string | undefined;
}

/** What one pass found out about the pairs of a plane. */
export interface Keeping {
  /** those in use, without those that people brought */
  readonly pairs: Partial<Record<Rotatable, CertificateAndKey>>;
  /** Secrets that were gone and come from the copy */
  readonly putBack: string[];
  /** lost ones in whose place others were made because somebody asked for it */
  readonly begun: { readonly name: Rotatable; readonly secret: string; readonly request: string }[];
}

/** The state with what has to be kept in it; the very same when it is there already. */
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

/** A request for another authority that has not been followed yet. */
export function newRequest(state: PlaneState, losses: Losses, name: Rotatable): string | undefined {
  const request = losses.request(name);
  return request === rotationOf(state, name).record.request ? undefined : request;
}
