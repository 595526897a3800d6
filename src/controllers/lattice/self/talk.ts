import type { LatticeCluster } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { errorMessage } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict } from '../../shared/index.ts';
import { latticeConditions as types } from '../conditions.ts';
import type { SelfManagement } from '../dependencies.ts';

/**
 * Ensures that the cluster knows where to dial, and reports the route. Nothing waits for it: the parent dials a cluster
 * that does not.
 */
export async function talkTo(
  context: ReconcileContext,
  draft: LatticeCluster,
  child: Client,
  { cell }: Pick<SelfManagement, 'cell'>,
): Promise<void> {
  if (cell === undefined) return;
  const name = draft.metadata.name ?? '';
  let verdict: Verdict | undefined;
  try {
    await cell.ensure(context);
    await cell.enrol(context, draft, child);
  } catch (error) {
    if (context.signal.aborted) throw error;
    verdict = { status: 'False', reason: 'NotTold', message: errorMessage(error) };
  }
  setVerdict(draft, types.connected, verdict ?? cell.verdict(name), context.clock.now());
}
