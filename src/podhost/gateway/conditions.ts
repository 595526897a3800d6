import type { StatusCondition } from '../../api/index.ts';
import { withCondition } from '../../machinery/index.ts';

/** A finding about a Gateway, a listener or a route. */
export interface Finding {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message?: string;
}

/** Merges findings into conditions. Times change only together with the status. */
export function withFindings(
  before: readonly StatusCondition[] | undefined,
  findings: readonly Finding[],
  generation: number | undefined,
  nowMs: number,
): StatusCondition[] {
  let conditions: readonly StatusCondition[] = before ?? [];
  for (const { type, isTrue, reason, message = '' } of findings) {
    conditions = withCondition(
      conditions,
      {
        type,
        status: isTrue ? 'True' : 'False',
        reason,
        message,
        ...(generation !== undefined && { observedGeneration: generation }),
      },
      nowMs,
    );
  }
  return [...conditions];
}
