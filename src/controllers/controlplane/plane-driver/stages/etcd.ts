import { planeObjects } from '../../../../hosting/index.ts';
import { soonest } from '../../../../runtime/index.ts';
import { checkSchedule } from '../backup/due.ts';
import { etcdTargetOf } from '../etcd/connect.ts';
import { defragmentRoundMs, driveEtcd } from '../etcd/drive.ts';
import { type PlaneScope, readSecret, setStage } from '../scope.ts';
import { seeControlPlane } from '../workload-sets.ts';
import { writeState } from '../write-state.ts';

/** Reconciles the plane's own etcd, if any. API servers start once it has quorum. */
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
  setStage(scope, 'etcd', outcome.verdict);
  const isNewRound = now - (state.defragmentedMs ?? 0) >= defragmentRoundMs;
  if (outcome.defragmented && isNewRound) await writeState(scope, { ...scope.state, defragmentedMs: now });
  // a running plane continues without quorum; a new one cannot start without it
  return outcome.isServing || desired.replicas === 0 || scope.controlPlane ? undefined : 'stop';
}

/** True only for a backup that was found: lost data is not given up for an unavailable backup. */
function isRestoreDue({ request, desired, state }: PlaneScope): boolean {
  const { restore } = request;
  if (!restore || !desired.backup) return false;
  return state.restore?.token === restore.token && state.restore.phase !== 'done';
}

const bornAt = ({ request }: PlaneScope): number => Date.parse(request.owner.metadata.creationTimestamp ?? '') || 0;
