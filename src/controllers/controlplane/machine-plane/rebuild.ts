import { done, type Result } from '../../../runtime/index.ts';
import { isDeleting } from '../../shared/index.ts';
import { hasHook, isOurTurn, release } from './pre-terminate.ts';
import { initialize } from './scale.ts';
import { type ControlPlaneScope, isInitialized } from './scope.ts';

/**
 * Restores an initialized control plane whose machines are all deleted or lost: the first new machine starts from a
 * snapshot. Machines need no care for etcd then, because its data is replaced.
 */
export async function rebuildFromSnapshot(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { controlPlane, machines, provider } = scope;
  if (!isInitialized(controlPlane) || provider.requestedRestore?.(controlPlane) === undefined) return undefined;
  if (!machines.every(isDeleting)) return undefined;
  for (const machine of machines) {
    if (hasHook(scope, machine) && isOurTurn(scope, machine)) await release(scope, machine);
  }
  if (machines.length > 0 || (controlPlane.spec.replicas ?? 1) === 0) return done();
  return await initialize(scope);
}
