// Types and reasons of conditions, as upstream writes them. True always carries the reason `Ready`.
import type { Conditioned, Verdict } from '../../shared/index.ts';
import { setVerdict } from '../../shared/index.ts';

export const authenticationCondition = 'OpenStackAuthenticationSucceeded';
export const authenticationFailedReason = 'OpenStackAuthenticationFailed';
export const openStackErrorReason = 'OpenStackError';

export const readyVerdict: Verdict = { status: 'True', reason: 'Ready' };

export function notReady(reason: string, message: string): Verdict {
  return { status: 'False', reason, message };
}

export function unknown(reason: string, message: string): Verdict {
  return { status: 'Unknown', reason, message };
}

/** The condition that tells whether the credentials work. */
export function setAuthentication(draft: Conditioned, problem: string | undefined, nowMs: number): void {
  const verdict = problem === undefined ? readyVerdict : notReady(authenticationFailedReason, problem);
  setVerdict(draft, authenticationCondition, verdict, nowMs);
}
