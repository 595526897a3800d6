import { formatKey } from '../../../../client/index.ts';
import { must } from '../../../../machinery/index.ts';
import { controllerOf, explain, mayRefer, missingGrant, referrer } from '../../../shared/index.ts';
import type { EtcdAdministrator } from '../../etcd-client/types.ts';
import { findBackup, restoreBackup } from '../backup/restore.ts';
import { openBackupStore, storeOptions } from '../backup/store.ts';
import { etcdTargetOf, unreachable } from '../etcd/connect.ts';
import { seeEtcd } from '../etcd/observe.ts';
import { bad, good, type PlaneScope, readSecret, requeueAfter, setStage } from '../scope.ts';
import type { RestoreRequest } from '../types.ts';
import { writeState } from '../write-state.ts';

const searching = 'restore-search';
const loading = 'restore';
const retryMs = 60_000;
const queueMs = 5_000;

// Restores a plane from a backup, or starts one from it: find the backup, stop the components, replace the keys in
// etcd, start the components. The current phase is persisted and each phase is repeatable.

/**
 * Finds the requested backup. Nothing is stopped for a missing backup, and a plane that should start from one does not
 * start empty.
 */
export async function findRestore(scope: PlaneScope): Promise<undefined> {
  const { restore } = scope.request;
  if (!restore || scope.state.restore?.token === restore.token) return;
  if (isNew(scope)) scope.isRestoring = true;
  const refusal = await whyRefused(scope, restore);
  if (refusal === undefined) return await search(scope, restore);
  const message = `${restore.backup} is not restored: ${refusal}`;
  setStage(scope, 'restore', bad('RestoreRefused', message));
  requeueAfter(scope, retryMs, 'a restore that is refused');
}

/** Restores the backup that was found. */
export async function reconcileRestore(scope: PlaneScope): Promise<undefined> {
  const { restore } = scope.request;
  const state = scope.state.restore;
  if (!restore || !state) return;
  if (state.token !== restore.token) {
    // an earlier restore may be half done, so components stay stopped
    scope.isRestoring ||= state.phase !== 'done';
    return;
  }
  if (state.phase === 'done') {
    setStage(scope, 'restore', good('Restored'));
    return;
  }
  // nothing may write while the keys are replaced
  scope.isRestoring = true;
  const running = scope.controlPlane?.pods.length ?? 0;
  if (running > 0) {
    setStage(
      scope,
      'restore',
      bad('Stopping', `${running} Pods are being stopped before ${restore.backup} is restored`),
    );
    return;
  }
  await load(scope, restore);
}

/** Tells whether the plane never had running components. */
const isNew = ({ request, controlPlane }: PlaneScope): boolean =>
  !request.isInitialized && (controlPlane?.wanted ?? 0) === 0 && (controlPlane?.pods.length ?? 0) === 0;

async function whyRefused({ desired, request }: PlaneScope, restore: RestoreRequest): Promise<string | undefined> {
  if (restore.problem !== undefined) return restore.problem;
  if (!desired.backup) return 'the plane names no store of backups';
  if (desired.backup.problem !== undefined) return desired.backup.problem;
  if (desired.dataStore.kind !== 'own-etcd') return 'the control plane does not have its own etcd';
  return restore.from && (await whyNotGranted(request, restore.from));
}

/** Requires a ReferenceGrant for backups of another namespace, for the kind of the plane or of its parent. */
async function whyNotGranted(
  { owner, context: { client, signal } }: PlaneScope['request'],
  source: NonNullable<RestoreRequest['from']>,
): Promise<string | undefined> {
  const from = referrer(owner);
  const parent = controllerOf(owner);
  const kinds = [from, ...(parent ? [referrer({ ...parent, metadata: { namespace: from.namespace } })] : [])];
  const references = kinds.map((kind) => ({ from: kind, to: { ...kind, ...source } }));
  for (const reference of references) if (await mayRefer(client, reference, signal)) return undefined;
  return missingGrant(must(references.at(-1), 'references.at(-1)'));
}

/** Searches for the backup; the plane keeps running meanwhile. */
async function search(scope: PlaneScope, restore: RestoreRequest): Promise<undefined> {
  const { request, desired, background, memory, key } = scope;
  const { clock, events } = request.context;
  const target = desired.backup?.target;
  if (!target) return;
  const now = clock.now();
  const work = background.take<string>(key, searching);
  if (work?.kind === 'finished') {
    delete memory.restoreFailure;
    const { token } = restore;
    await writeState(scope, { ...scope.state, restore: { token, backup: work.value, phase: 'stopping' } });
    requeueAfter(scope, 0, 'a restore begins');
    return;
  }
  if (work?.kind === 'failed') {
    memory.restoreFailure = { token: restore.token, message: explain(work.error), at: now };
    events.event(request.owner, 'Warning', 'RestoreFailed', explain(work.error));
  }
  if (waitsAfterFailure(scope, restore)) return;
  setStage(scope, 'restore', bad('Searching', `${restore.backup} is looked for in the store of backups`));
  if (work?.kind === 'running') return;
  const plane = restore.from ?? { namespace: desired.identity.namespace, name: desired.identity.clusterName };
  background.start(key, searching, now, async (signal) => {
    const { store, isOwn } = await openBackupStore(target, storeOptions(scope, signal));
    return await findBackup({ store, isOwn, backup: restore.backup, plane, signal });
  });
}

/** Reports a recent failure instead of retrying at once. */
function waitsAfterFailure(scope: PlaneScope, restore: RestoreRequest): boolean {
  const { memory, request } = scope;
  const failure = memory.restoreFailure;
  const passedMs = request.context.clock.now() - (failure?.at ?? 0);
  if (!failure || failure.token !== restore.token || passedMs >= retryMs) return false;
  setStage(scope, 'restore', bad('RestoreFailed', failure.message));
  requeueAfter(scope, retryMs - passedMs, 'a restore is tried again');
  return true;
}

async function load(scope: PlaneScope, restore: RestoreRequest): Promise<void> {
  const { request, desired, background, memory, key, openEtcd } = scope;
  const { clock, cache, events } = request.context;
  const target = desired.backup?.target;
  const name = scope.state.restore?.backup;
  if (!target || name === undefined) {
    setStage(
      scope,
      'restore',
      bad('RestoreRefused', `${restore.backup} cannot be restored without its store of backups`),
    );
    return;
  }
  const now = clock.now();
  const work = background.take<{ keys: number }>(key, loading);
  if (work?.kind === 'finished') {
    delete memory.restoreFailure;
    memory.inCluster.clear();
    events.event(request.owner, 'Normal', 'Restored', `${work.value.keys} keys were restored from ${name}`);
    await writeState(scope, { ...scope.state, restore: { token: restore.token, backup: name, phase: 'done' } });
    scope.isRestoring = false;
    setStage(scope, 'restore', good('Restored'));
    return;
  }
  if (work?.kind === 'failed') {
    memory.restoreFailure = { token: restore.token, message: explain(work.error), at: now };
    events.event(request.owner, 'Warning', 'RestoreFailed', explain(work.error));
  }
  if (waitsAfterFailure(scope, restore)) return;
  setStage(scope, 'restore', bad('Restoring', `${name} is being restored`));
  const targetOf = etcdTargetOf(desired, (secret) => readSecret(scope, secret));
  if (work?.kind === 'running' || scope.etcd?.isServing !== true || !targetOf) return;
  // a backup is loaded into memory, so each namespace restores one at a time
  if (background.isUnderWay(desired.identity.namespace, loading)) {
    requeueAfter(scope, queueMs, 'another plane of the namespace is being restored');
    return;
  }
  const { running } = seeEtcd(cache, desired);
  const rename =
    desired.layout === 'k0s' && restore.from
      ? { from: `/${restore.from.name}/`, to: `/${desired.identity.clusterName}/` }
      : undefined;
  background.start(key, loading, now, async (signal) => {
    const { store } = await openBackupStore(target, storeOptions(scope, signal));
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
        return await restoreBackup({ store, etcd, name, readers, signal, ...(rename && { rename }) });
      } finally {
        etcd.close();
      }
    }
    throw unreachable(problems.length > 0 ? problems : [formatKey(key)]);
  });
}
