import { type AppliedResource, type ClusterStackRelease, ClusterStackReleases, Clusters } from '../../../api/index.ts';
import { errorMessage } from '../../../machinery/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import { draftOf, withoutFinalizer, writeObject } from '../../shared/index.ts';
import { markFalse, readyCondition } from '../conditions.ts';
import type { StackDependencies } from '../dependencies.ts';
import { releaseFinalizer, stackFieldManager } from '../names.ts';
import { deleteMarked } from '../objects/applied.ts';
import { clusterNames, stackUseOf } from '../uses.ts';
import { isOfRelease } from './marks.ts';

const waitMs = 60_000;
const goneMs = 5_000;

/** Deletes the objects of a release once no Cluster uses it. */
export async function removeRelease(
  context: ReconcileContext,
  live: ClusterStackRelease,
  { kinds }: StackDependencies,
): Promise<Result> {
  const { cache, client, signal, clock } = context;
  const { finalizers = [], name = '', namespace } = live.metadata;
  if (!finalizers.includes(releaseFinalizer)) return done();
  const draft = draftOf(live);
  const users = cache.lister(Clusters).list({
    filter: (cluster) => {
      const use = stackUseOf(cluster);
      return use?.release === name && use.namespace === namespace;
    },
  });
  if (users.length > 0) {
    const message = `deletion waits for the Clusters that use the class: ${clusterNames(users, namespace)}`;
    markFalse(draft, readyCondition, { reason: 'InUse', severity: 'Warning', message }, clock.now());
    await writeObject(context, ClusterStackReleases, live, draft, { observed: false });
    return after(waitMs, 'Clusters that use the release');
  }
  const target = { client, kinds, fieldManager: stackFieldManager, signal };
  const isMarked = isOfRelease(name);
  const left: AppliedResource[] = [];
  const problems: string[] = [];
  for (const entry of live.status?.resources ?? []) {
    try {
      if (!(await deleteMarked(target, entry, isMarked))) left.push(entry);
    } catch (error) {
      if (signal.aborted) throw error;
      left.push(entry);
      problems.push(`${entry.kind} ${entry.name}: ${errorMessage(error)}`);
    }
  }
  if (left.length === 0) {
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, releaseFinalizer);
  } else {
    const waiting = left.map(({ kind, name: of }) => `${kind} ${of}`).join(', ');
    const message = problems.length > 0 ? problems.join('; ') : `deletion waits until these are gone: ${waiting}`;
    markFalse(draft, readyCondition, { reason: 'Deleting', severity: 'Info', message }, clock.now());
    draft.status = { ...draft.status, resources: left };
  }
  await writeObject(context, ClusterStackReleases, live, draft, { observed: false });
  return left.length === 0 ? done() : after(goneMs, 'objects of the release are going');
}
