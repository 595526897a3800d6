import { Deployments, NetworkPolicies, PodDisruptionBudgets } from '../../../api/index.ts';
import { policyNames } from '../../../hosting/index.ts';
import { ignoreNotFound, type KubeObject, must, type Resource } from '../../../machinery/index.ts';
import { isDeleting } from '../../shared/index.ts';
import type { PlaneScope } from './scope.ts';

// Deletes objects that earlier versions of a plane had; server-side apply leaves them in place.

/**
 * Deletes Deployments of components that now run in the API server Pods. Two instances must not act at once, and small
 * planes disable leader election. Returns the names that still exist.
 */
export async function removeFormerDeployments(scope: PlaneScope): Promise<string[]> {
  return remove(scope, Deployments, scope.desired.naming.formerDeployments ?? []);
}

/**
 * Deletes budgets and network policies that a plane no longer has. A budget for a single Pod, for example, would block
 * the drain of its node.
 */
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
    // foreground: a Deployment disappears after its Pods
    const propagationPolicy = resource.kind === 'Deployment' ? 'Foreground' : 'Background';
    const preconditions = { uid: must(found.metadata.uid, 'found.metadata.uid') };
    await client
      .delete(resource, { namespace, name }, { propagationPolicy, preconditions, signal })
      .catch(ignoreNotFound);
  }
  return left;
}
