import type { AuthorityName } from '../naming/types.ts';

// Replaces a CA or the service account key without downtime: introduce the next one, trust it everywhere, switch to it,
// replace everything signed by the old one, retire the old one.

export type Rotatable = AuthorityName | 'sa';

/**
 * `stable`: one key; `introduced`: the next exists and is trusted; `switched`: the next is in use, the old one still
 * trusted.
 */
export type RotationPhase = 'stable' | 'introduced' | 'switched';

/** Persisted state of a rotation. */
export interface RotationRecord {
  readonly phase: RotationPhase;
  /** id of the request for the current or last rotation; the same request never rotates twice */
  readonly request?: string;
  /** start of the current phase, milliseconds since the epoch */
  readonly since: number;
  /** time in the current phase since which everything is signed by the current key */
  readonly settled?: number;
}

export interface RotationObservation {
  readonly record: RotationRecord;
  /** id of a rotation request; absent without one */
  readonly request?: string;
  readonly now: number;
  /** every verifier has the current trust: Pods are rolled out, kubeconfigs and published trust written */
  readonly trustedEverywhere: boolean;
  /** all leaf certificates are signed by the current CA and in use */
  readonly leavesReplaced: boolean;
  /** number of clients with old certificates, for example nodes */
  readonly holdouts: number;
  /** expiry of the old CA, after which nothing it signed is valid */
  readonly oldNotAfter?: number;
  /** how long old credentials may be in use unnoticed, for example tokens */
  readonly overlapMs: number;
}

export type RotationStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly message: string; readonly until?: number }
  | { readonly kind: 'introduce'; readonly record: RotationRecord }
  | { readonly kind: 'switch'; readonly record: RotationRecord }
  | { readonly kind: 'settle'; readonly record: RotationRecord }
  | { readonly kind: 'retire'; readonly record: RotationRecord };

/**
 * Computes the next step of a rotation. The record alone determines which keys exist, so a crash resumes at the same
 * step.
 */
export function rotationStep(observed: RotationObservation): RotationStep {
  const { record, request, now } = observed;
  const begun = { ...(record.request !== undefined && { request: record.request }), since: now };
  switch (record.phase) {
    case 'stable':
      if (request === undefined || request === record.request) return { kind: 'none' };
      return { kind: 'introduce', record: { phase: 'introduced', request, since: now } };
    case 'introduced':
      if (!observed.trustedEverywhere) return { kind: 'wait', message: 'the new trust is being rolled out' };
      return { kind: 'switch', record: { phase: 'switched', ...begun } };
    case 'switched': {
      if (!observed.leavesReplaced) return { kind: 'wait', message: 'certificates are being replaced' };
      if (record.settled === undefined) return { kind: 'settle', record: { ...record, settled: now } };
      const outlived = observed.oldNotAfter !== undefined && now >= observed.oldNotAfter;
      if (!outlived && observed.holdouts > 0) {
        return {
          kind: 'wait',
          message: `${observed.holdouts} still ${observed.holdouts === 1 ? 'uses' : 'use'} what the old one signed`,
          ...(observed.oldNotAfter !== undefined && { until: observed.oldNotAfter }),
        };
      }
      const until = record.since + observed.overlapMs;
      if (!outlived && now < until)
        return { kind: 'wait', message: 'what the old one signed may still be shown', until };
      return { kind: 'retire', record: { phase: 'stable', ...begun } };
    }
  }
}
