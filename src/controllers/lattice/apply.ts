import { type LatticeCluster, latticeNamespace, type MachineSet, MachineSets } from '../../api/index.ts';
import { objectKey } from '../../client/index.ts';
import { errorMessage, ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import { isDeleting, isOwnedBy, UnservedKindError } from '../shared/index.ts';
import type { LatticeDependencies } from './dependencies.ts';
import type { ExpandedObject } from './expand/naming.ts';

/** Applies objects in order; returns one line per object that failed. */
export async function applyObjects(
  { client, signal }: ReconcileContext,
  { kinds, applied }: LatticeDependencies,
  objects: readonly ExpandedObject[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { object } of objects) {
    const named = `${object.kind} ${object.metadata.name}`;
    try {
      const resource = await kinds.resourceOf(object, signal);
      const live = await client.get(resource, objectKey(object), { signal }).catch(ignoreNotFound);
      if (live && isDeleting(live)) problems.push(`${named} is being deleted`);
      else if (live) await applied.apply(client, resource, object, live, signal);
      else await applied.create(client, resource, object, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const hint = error instanceof UnservedKindError ? '; this installation has no controllers for it' : '';
      problems.push(`${named}: ${errorMessage(error)}${hint}`);
      // later objects depend on earlier ones
      break;
    }
  }
  return problems;
}

/** Deletes objects a LatticeCluster no longer wants: removed pools, and templates that are no longer used. */
export async function removeUndesired(
  context: ReconcileContext,
  owner: LatticeCluster,
  desired: readonly ExpandedObject[],
  kinds: readonly Resource<KubeObject>[],
): Promise<void> {
  const { client, cache, signal } = context;
  const namespace = latticeNamespace(owner.metadata.name ?? '');
  const inUse = templatesInUse(cache.lister(MachineSets).list({ namespace }));
  for (const resource of kinds) {
    const names = new Set(
      desired.filter((one) => one.resource.kind === resource.kind).map(({ object }) => object.metadata.name),
    );
    for (const live of cache.lister(resource).list({ namespace })) {
      const { name = '', uid } = live.metadata;
      if (names.has(name) || isDeleting(live) || !isOwnedBy(live, owner)) continue;
      if (inUse.has(`${resource.kind} ${name}`)) continue;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(resource, { namespace, name }, { signal, ...preconditions }).catch(ignoreNotFound);
    }
  }
}

/** Lists templates in use; even a set that is being scaled down may still create a machine. */
function templatesInUse(sets: readonly MachineSet[]): Set<string> {
  const references = sets.flatMap(({ spec: { template } }) => [
    template.spec.infrastructureRef,
    ...(template.spec.bootstrap.configRef ? [template.spec.bootstrap.configRef] : []),
  ]);
  return new Set(references.map(({ kind, name }) => `${kind} ${name}`));
}
