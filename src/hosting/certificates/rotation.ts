import type { AuthorityName } from '../naming/types.ts';

// How a certificate authority, or the key that signs service account tokens, is replaced while everything keeps running:
// introduce the next one -> everybody trusts it -> switch to it -> nobody shows what the old one signed -> retire the old one.

export type Rotatable = AuthorityName | 'sa';

/** `stable`: one; `introduced`: the next exists and is trusted; `switched`: the next is in use, the old one still trusted. */
export type RotationPhase = 'stable' | 'introduced' | 'switched';

/** What is written down of a rotation. */
export interface RotationRecord {
  readonly phase: RotationPhase;
  /** what asked for the one under way or done last; the same request never rotates twice */
  readonly request?: string;
  /** milliseconds since the epoch; when the present phase began */
  readonly since: number;
  /** since when, in the present phase, everything is signed by the one in use */
  readonly settled?: number;
}

export interface RotationObservation {
  readonly record: RotationRecord;
  /** what asks for a rotation; absent: nothing does */
  readonly request?: string;
  readonly now: number;
  /** everybody who checks what is signed has the present trust: Pods rolled out, kubeconfigs and published trust written */
  readonly trustedEverywhere: boolean;
  /** all leaves are signed by the one in use, and whoever serves or shows them has them */
  readonly leavesReplaced: boolean;
  /** how many still show what the old one signed, e.g. nodes with their client certificates */
  readonly holdouts: number;
  /** end of the old authority's certificate: nothing signed by it is valid any longer */
  readonly oldNotAfter?: number;
  /** how long what was signed may be shown without being seen, e.g. tokens */
  readonly overlapMs: number;
}

export type RotationStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly message: string; readonly until?: number }
  | { readonly kind: 'introduce'; readonly record: RotationRecord }
  | { readonly kind: 'switch'; readonly record: RotationRecord }
  | { readonly kind: 'settle'; readonly record: RotationRecord }
  | { readonly kind: 'retire'; readonly record: RotationRecord };

/** The next step of a rotation. Which keys exist follows from the record alone, so that a crash resumes where it was. */
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
