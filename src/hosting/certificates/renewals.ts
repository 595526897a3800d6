import type { CredentialName } from '../naming/types.ts';
import type { CertificatePlan, ObservedCredential, PlannedCredential, Renewal, RenewalReason } from './types.ts';

/** Lists credentials to issue now, in plan order. Existing CAs are replaced by rotation only. */
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
  // surplus names are harmless, and a reissue would roll the Pods
  return planned.hosts.every((host) => observed.hosts.includes(host)) ? undefined : 'hosts';
}

/**
 * Returns the renewal time. A certificate shortened by its CA's expiry keeps the same fraction of its lifetime as
 * margin. Kubeconfigs are renewed at half of their lifetime, because users copy them.
 */
export function renewAt(planned: PlannedCredential, { notBefore, notAfter }: ObservedCredential): number {
  if (planned.kind === 'key') return Number.POSITIVE_INFINITY;
  if (planned.kind === 'kubeconfig') return (notBefore + notAfter) / 2;
  const margin = Math.min(planned.renewBeforeMs, ((notAfter - notBefore) * planned.renewBeforeMs) / planned.durationMs);
  return notAfter - margin;
}

/** Returns the next time-based renewal; undefined if never. */
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
