import type { CredentialName } from '../naming/types.ts';
import type { CertificatePlan, ObservedCredential, PlannedCredential, Renewal, RenewalReason } from './types.ts';

/** What must be made, or made anew, now; in the order of the plan. Authorities that exist are a matter of rotation. */
export function dueRenewals(
  plan: CertificatePlan,
  observed: ReadonlyMap<CredentialName, ObservedCredential>,
  now: number,
): Renewal[] {
  const due: Renewal[] = [];
  for (const credential of plan) {
    const reason = credential.external ? undefined : renewalReason(credential, observed.get(credential.name), now);
    if (reason !== undefined) due.push({ credential, reason });
  }
  return due;
}

function renewalReason(
  planned: PlannedCredential,
  observed: ObservedCredential | undefined,
  now: number,
): RenewalReason | undefined {
  if (!observed) return 'missing';
  if (planned.kind === 'authority' || planned.kind === 'key') return undefined;
  if (now >= renewAt(planned, observed)) return 'expiring';
  if (!observed.signedByCurrent) return 'signer';
  if (observed.commonName !== planned.commonName || !isSame(observed.organizations, planned.organizations))
    return 'subject';
  if (!observed.trustsAll) return 'trust';
  if (planned.kind === 'kubeconfig') {
    if (planned.place.kubeconfig && observed.server !== planned.server) return 'server';
    return planned.place.internalKubeconfig && observed.internalServer !== planned.internalServer
      ? 'server'
      : undefined;
  }
  // names that are not needed any more do no harm; making it anew would roll the Pods
  return planned.hosts.every((host) => observed.hosts.includes(host)) ? undefined : 'hosts';
}

/**
 * When a certificate is to be made anew. One that lives shorter than asked for, because its authority ends, keeps the same share
 * of its life as margin; kubeconfigs are renewed at half of theirs, as everybody who copies them expects.
 */
export function renewAt(planned: PlannedCredential, { notBefore, notAfter }: ObservedCredential): number {
  if (planned.kind === 'key') return Number.POSITIVE_INFINITY;
  if (planned.kind === 'kubeconfig') return (notBefore + notAfter) / 2;
  const margin = Math.min(planned.renewBeforeMs, ((notAfter - notBefore) * planned.renewBeforeMs) / planned.durationMs);
  return notAfter - margin;
}

/** The next moment at which something of the plan comes due by time alone; undefined: never. */
export function nextRenewal(
  plan: CertificatePlan,
  observed: ReadonlyMap<CredentialName, ObservedCredential>,
): number | undefined {
  let next: number | undefined;
  for (const planned of plan) {
    const seen = observed.get(planned.name);
    if (!seen || planned.external || planned.kind === 'key') continue;
    const at = renewAt(planned, seen);
    if (next === undefined || at < next) next = at;
  }
  return next;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}
