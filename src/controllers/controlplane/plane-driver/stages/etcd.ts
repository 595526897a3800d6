import { planeObjects } from '../../../../hosting/index.ts';
import { soonest } from '../../../../runtime/index.ts';
import { checkSchedule } from '../backup/due.ts';
import { etcdTargetOf } from '../etcd/connect.ts';
import { defragmentRoundMs, driveEtcd } from '../etcd/drive.ts';
import { type PlaneScope, readSecret, tell } from '../scope.ts';
import { seeControlPlane } from '../workload-sets.ts';
import { writeState } from '../write-state.ts';

/** The plane's own etcd, if it has one. API servers start when enough of its members answer. */
export async function reconcileEtcd(scope: PlaneScope): Promise<'stop' | undefined> {
  const { desired, request, memory, state } = scope;
  if (desired.dataStore.kind !== 'own-etcd') return undefined;
  const schedule = desired.dataStore.defragment?.schedule;
  const now = request.context.clock.now();
  const countsFrom = Math.max(state.defragmentedMs ?? bornAt(scope), memory.etcd.spared ?? 0);
  const defragmentDue = schedule !== undefined && checkSchedule(schedule, countsFrom, now);
  const outcome = await driveEtcd({
    context: request.context,
    desired,
    apply: scope.apply,
    memory: memory.etcd,
    objects: (etcd) => planeObjects(desired, { ...scope.facts, etcd }).etcd,
    open: scope.openEtcd,
    targetOf: etcdTargetOf(desired, (key) => readSecret(scope, key)),
    lastDefragmentedMs: state.defragmentedMs,
    defragmentDue,
    restores: isRestoreDue(scope),
    users: seeControlPlane(request.context.cache, desired)?.pods.length ?? 0,
  });
  if (defragmentDue && outcome.isSettled && !outcome.defragmented) memory.etcd.spared = now;
  scope.etcd = outcome;
  scope.later = soonest(scope.later, outcome.result);
  tell(scope, 'etcd', outcome.verdict);
  const isNewRound = now - (state.defragmentedMs ?? 0) >= defragmentRoundMs;
  if (outcome.defragmented && isNewRound) await writeState(scope, { ...scope.state, defragmentedMs: now });
  // a plane that runs goes on without its majority; one that never ran has nothing to begin with
  return outcome.isServing || desired.replicas === 0 || scope.controlPlane ? undefined : 'stop';
}

/** Only a backup that was found: data that is lost is not given up for one that cannot be had. */
function isRestoreDue({ request, desired, state }: PlaneScope): boolean {
  const { restore } = request;
  if (!restore || !desired.backup) return false;
  return state.restore?.token === restore.token && state.restore.phase !== 'done';
}

const bornAt = ({ request }: PlaneScope): number => Date.parse(request.owner.metadata.creationTimestamp ?? '') || 0;
