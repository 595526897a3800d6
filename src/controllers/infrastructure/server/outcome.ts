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

/** Fallback for a lost event that ends a wait. */
const lostEventMs = 120_000;

/**
 * Reports the error on the object and returns the retry delay; undefined leaves it to the queue. Unknown errors are
 * rethrown.
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
