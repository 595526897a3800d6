// Condition types and reasons as upstream sets them. True always has reason `Ready`.
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

/** Sets the condition about the credentials. */
export function setAuthentication(draft: Conditioned, problem: string | undefined, nowMs: number): void {
  const verdict = problem === undefined ? readyVerdict : notReady(authenticationFailedReason, problem);
  setVerdict(draft, authenticationCondition, verdict, nowMs);
}
