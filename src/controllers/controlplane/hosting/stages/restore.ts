import { formatKey } from '../../../../client/index.ts';
import { explain } from '../../../shared/index.ts';
import type { EtcdAdministrator } from '../../etcd/types.ts';
import { restoreBackup } from '../backup/restore.ts';
import { openBackupStore } from '../backup/store.ts';
import { etcdTargetOf, unreachable } from '../etcd/connect.ts';
import { seeEtcd } from '../etcd/observe.ts';
import { bad, good, lookAgain, type PlaneScope, readSecret, tell } from '../scope.ts';
import { writeState } from '../write-state.ts';

const purpose = 'restore';
const retryMs = 60_000;

/**
 * Goes back to a backup, or begins with one: the programs stop, the keys are put into etcd, the programs start. Which of these it
 * is at is written down, and each can be done again.
 */
export async function keepRestore(scope: PlaneScope): Promise<undefined> {
  const { request, wish } = scope;
  const { restore } = request;
  if (!restore) return;
  if (!wish.backup || wish.dataStore.kind !== 'own-etcd') {
    const why = wish.backup ? 'the plane has no etcd of its own' : 'the plane names no store of backups';
    tell(scope, 'restore', bad('RestoreRefused', `${restore.backup} cannot be restored: ${why}`));
    return;
  }
  if (scope.state.restore?.token !== restore.token) {
    await writeState(scope, {
      ...scope.state,
      restore: { token: restore.token, backup: restore.backup, phase: 'stopping' },
    });
    lookAgain(scope, 0, 'a restore begins');
  }
  const state = scope.state.restore;
  if (!state || state.phase === 'done') {
    tell(scope, 'restore', good('Restored'));
    return;
  }
  // nobody may write while the keys are replaced
  scope.isRestoring = true;
  const running = scope.controlPlane?.pods.length ?? 0;
  if (running > 0) {
    tell(scope, 'restore', bad('Stopping', `${running} Pods are being stopped before ${restore.backup} is restored`));
    return;
  }
  await load(scope);
}

async function load(scope: PlaneScope): Promise<void> {
  const { request, wish, background, memory, key, openEtcd } = scope;
  const { client, clock, cache, events } = request.context;
  const { restore } = request;
  const target = wish.backup?.target;
  if (!restore || !target) return;
  const now = clock.now();
  const work = background.take<{ name: string; keys: number }>(key, purpose);
  if (work?.kind === 'finished') {
    delete memory.restoreFailure;
    memory.inCluster.clear();
    const { name, keys } = work.value;
    events.event(request.owner, 'Normal', 'Restored', `${keys} keys were restored from ${name}`);
    await writeState(scope, { ...scope.state, restore: { token: restore.token, backup: name, phase: 'done' } });
    scope.isRestoring = false;
    tell(scope, 'restore', good('Restored'));
    return;
  }
  if (work?.kind === 'failed') {
    memory.restoreFailure = { message: explain(work.error), at: now };
    events.event(request.owner, 'Warning', 'RestoreFailed', explain(work.error));
  }
  const failure = memory.restoreFailure;
  if (failure && now - failure.at < retryMs) {
    tell(scope, 'restore', bad('RestoreFailed', failure.message));
    lookAgain(scope, retryMs - (now - failure.at), 'a restore is tried again');
    return;
  }
  tell(scope, 'restore', bad('Restoring', `${restore.backup} is being restored`));
  const targetOf = etcdTargetOf(wish, (secret) => readSecret(scope, secret));
  if (work?.kind === 'running' || scope.etcd?.isServing !== true || !targetOf) return;
  const { running } = seeEtcd(cache, wish);
  const plane = restore.from ?? { namespace: wish.identity.namespace, name: wish.identity.clusterName };
  const rename =
    wish.layout === 'k0s' && restore.from
      ? { from: `/${restore.from.name}/`, to: `/${wish.identity.clusterName}/` }
      : undefined;
  background.start(key, purpose, now, async (signal) => {
    const store = await openBackupStore(target, client, clock, signal);
    const problems: string[] = [];
    for (const member of running) {
      let etcd: EtcdAdministrator;
      try {
        etcd = await openEtcd(targetOf(member), signal);
      } catch (error) {
        problems.push(`${member}: ${explain(error)}`);
        continue;
      }
      try {
        if ((await etcd.status(signal)).isLearner) continue;
        const readers = scope.dependencies.snapshotReaders ?? [];
        return await restoreBackup({
          store,
          etcd,
          backup: restore.backup,
          plane,
          readers,
          signal,
          ...(rename && { rename }),
        });
      } finally {
        etcd.close();
      }
    }
    throw unreachable(problems.length > 0 ? problems : [formatKey(key)]);
  });
}
