import { Deployments, NetworkPolicies, PodDisruptionBudgets } from '../../../api/index.ts';
import { policyNames } from '../../../hosting/index.ts';
import { ignoreNotFound, type KubeObject, must, type Resource } from '../../../machinery/index.ts';
import { isDeleting } from '../../shared/index.ts';
import type { PlaneScope } from './scope.ts';

// What a plane had before and is not to have any more: server-side apply leaves it where it is.

/**
 * Ends programs that run in Pods of their own and belong into those of the API server now. Two of a kind must not act at once, and
 * those of a small plane never asked who leads. Answers with the names of those that are still there.
 */
export async function removeFormerDeployments(scope: PlaneScope): Promise<string[]> {
  return remove(scope, Deployments, scope.desired.naming.formerDeployments ?? []);
}

/** Budgets and network policies the plane has outgrown: one for a single Pod would keep its node from being emptied. */
export async function removeFormerPolicies(scope: PlaneScope, policies: readonly KubeObject[]): Promise<void> {
  for (const resource of [PodDisruptionBudgets, NetworkPolicies]) {
    const kept = new Set(policies.filter(({ kind }) => kind === resource.kind).map(({ metadata }) => metadata.name));
    await remove(
      scope,
      resource,
      policyNames(scope.desired).filter((name) => !kept.has(name)),
    );
  }
}

async function remove(scope: PlaneScope, resource: Resource<KubeObject>, names: readonly string[]): Promise<string[]> {
  const { client, cache, signal } = scope.request.context;
  const { namespace, owner } = scope.desired.identity;
  const left: string[] = [];
  for (const name of names) {
    const found = cache.lister(resource).get({ namespace, name });
    if (!found?.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) continue;
    left.push(`${resource.kind} ${name}`);
    if (isDeleting(found)) continue;
    // gone with its Pods
    const propagationPolicy = resource.kind === 'Deployment' ? 'Foreground' : 'Background';
    const preconditions = { uid: must(found.metadata.uid, 'found.metadata.uid') };
    await client
      .delete(resource, { namespace, name }, { propagationPolicy, preconditions, signal })
      .catch(ignoreNotFound);
  }
  return left;
}
