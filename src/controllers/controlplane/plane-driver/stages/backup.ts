import { checkCronSchedule, formatTime } from '../../../../machinery/index.ts';
import { explain, type Verdict } from '../../../shared/index.ts';
import type { EtcdAdministrator } from '../../etcd-client/types.ts';
import { backupName, nextBackup } from '../backup/schedule.ts';
import { snapshotParts } from '../backup/snapshot.ts';
import { openBackupStore, storeOptions } from '../backup/store.ts';
import { etcdTargetOf, unreachable } from '../etcd/connect.ts';
import { seeEtcd } from '../etcd/observe.ts';
import { bad, good, type PlaneScope, readSecret, requeueAfter, requeueAt, setStage } from '../scope.ts';
import { writeState } from '../write-state.ts';

const purpose = 'backup';
const retryMs = 5 * 60_000;
const noEtcd = 'the control plane does not have its own etcd, so no backups are made; back up the store with its data';

interface Made {
  readonly name: string;
  readonly startedMs: number;
}

/** Takes scheduled backups of the plane's own etcd as background jobs. */
export async function reconcileBackups(scope: PlaneScope): Promise<undefined> {
  const { desired, request, memory, background } = scope;
  if (!desired.backup) return;
  const { schedule } = desired.backup;
  const refusal = desired.backup.problem ?? (desired.dataStore.kind === 'own-etcd' ? undefined : noEtcd);
  if (refusal !== undefined) {
    setStage(scope, 'backup', bad('BackupRefused', refusal));
    return;
  }
  const problem = checkCronSchedule(schedule)[0];
  if (problem !== undefined) {
    setStage(
      scope,
      'backup',
      bad('ScheduleRefused', `the schedule ${JSON.stringify(schedule)} of backups cannot be read: ${problem}`),
    );
    return;
  }
  const { clock, events } = request.context;
  const now = clock.now();
  const work = background.take<Made>(scope.key, purpose);
  if (work?.kind === 'finished') {
    delete memory.backupFailure;
    const { name, startedMs } = work.value;
    await writeState(scope, { ...scope.state, backup: { lastMs: startedMs, lastName: name, scheduledMs: startedMs } });
  } else if (work?.kind === 'failed') {
    memory.backupFailure = { message: explain(work.error), at: now };
    events.event(request.owner, 'Warning', 'BackupFailed', explain(work.error));
  }
  const plane = { namespace: desired.identity.namespace, name: desired.identity.clusterName };
  const last = scope.state.backup;
  const born = Date.parse(request.owner.metadata.creationTimestamp ?? '') || now;
  const next = nextBackup(schedule, last?.scheduledMs ?? born, plane);
  scope.backup = {
    ...(last && { lastMs: last.lastMs, lastName: last.lastName }),
    ...(next !== undefined && { nextMs: next }),
  };
  if (work?.kind === 'running') {
    setStage(scope, 'backup', verdictOf(scope, next));
    return;
  }
  const failure = memory.backupFailure;
  const retryAt = failure ? failure.at + retryMs : 0;
  const isDue = next !== undefined && next <= now && retryAt <= now;
  if (isDue && scope.etcd?.isServing === true) {
    start(scope, backupName(plane, now), now);
    setStage(scope, 'backup', verdictOf(scope, next));
    return;
  }
  requeueAt(scope, Math.max(next ?? Number.POSITIVE_INFINITY, retryAt), 'the next backup');
  if (isDue) requeueAfter(scope, retryMs, 'a backup waits for etcd');
  setStage(scope, 'backup', verdictOf(scope, next));
}

/** Verdict about the last attempted backup; a running one does not change it. */
function verdictOf({ memory, state }: PlaneScope, next: number | undefined): Verdict {
  if (memory.backupFailure) return bad('BackupFailed', memory.backupFailure.message);
  if (state.backup) return good('BackedUp');
  const when = next === undefined ? 'never, by its schedule' : `at ${formatTime(next)}`;
  return { status: 'Unknown', reason: 'NoBackupYet', message: `the first backup is due ${when}` };
}

function start(scope: PlaneScope, name: string, startedMs: number): void {
  const { desired, request, background, openEtcd, key } = scope;
  const { cache } = request.context;
  const target = desired.backup?.target;
  const targetOf = etcdTargetOf(desired, (secret) => readSecret(scope, secret));
  const { running } = seeEtcd(cache, desired);
  if (!target || !targetOf) return;
  background.start<Made>(key, purpose, startedMs, async (signal) => {
    const { store } = await openBackupStore(target, storeOptions(scope, signal));
    const problems: string[] = [];
    for (const member of running) {
      let etcd: EtcdAdministrator | undefined;
      try {
        etcd = await openEtcd(targetOf(member), signal);
        if ((await etcd.status(signal)).isLearner) continue;
      } catch (error) {
        problems.push(`${member}: ${explain(error)}`);
        etcd?.close();
        continue;
      }
      try {
        await store.write(name, snapshotParts(etcd, signal), signal);
        return { name, startedMs };
      } finally {
        etcd.close();
      }
    }
    throw unreachable(problems);
  });
}
