import { after, type Result } from '../../../runtime/index.ts';
import { notReady } from '../common/conditions.ts';
import { CloudFault } from '../common/outcomes.ts';
import { pauseAfter } from '../common/pause.ts';
import { warnOfNews } from '../common/warn.ts';
import {
  Awaited,
  floatingIpErrorReason,
  instanceNotReadyReason,
  instanceReadyCondition,
  poolAddressCondition,
} from './conditions.ts';
import { judge, type ServerScope } from './scope.ts';

/** Events tell when a wait is over; this is for one that got lost. */
const lostEventMs = 120_000;

/**
 * Tells on the object what stopped a pass, and says when the next one comes; undefined leaves that to the queue. What is
 * nobody's to explain is thrown again.
 */
export function explainStop(
  scope: Pick<ServerScope, 'original' | 'server' | 'context'>,
  error: unknown,
): Result | undefined {
  if (!(error instanceof CloudFault)) throw error;
  if (error instanceof Awaited) {
    judge(scope, instanceReadyCondition, notReady(instanceNotReadyReason, error.message));
    return after(lostEventMs, error.message);
  }
  const condition = error.reason === floatingIpErrorReason ? poolAddressCondition : instanceReadyCondition;
  warnOfNews(scope.context, scope.original, condition, error);
  judge(scope, condition, notReady(error.reason, error.message));
  return pauseAfter(error, scope.context.random);
}
