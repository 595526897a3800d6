import { type Cluster, type K0smotronCluster, K0smotronClusters, K0smotronControlPlanes } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../../machinery/index.ts';
import { conditionOf, isDeleting, ownerOf, setVerdict, withoutFinalizer } from '../../shared/index.ts';
import { runningVersionOf, seeControlPlane } from '../plane-driver/workload-sets.ts';
import { childPlane } from './child.ts';
import { reportCluster } from './cluster-facts.ts';
import { observeControlPlane, refuseControlPlane } from './control-plane-status.ts';
import { controlPlaneFinalizer, planeFieldManager } from './names.ts';
import type { ControlPlaneScope } from './scope.ts';
import { k0smotronPlaneNames } from './spec.ts';
import { takeOverFields } from './take-over-fields.ts';

/** Applies the plane of the control plane, and copies its state to the status. */
export async function reconcileControlPlane(scope: ControlPlaneScope, cluster: Cluster): Promise<void> {
  const { context, draft, original } = scope;
  const now = context.clock.now();
  const live = await findPlane(scope);
  if (live && !isOurs(scope, live)) {
    const message = `Cluster ${live.metadata.name} of k0smotron.io already exists and is not ours; delete it, or give this Cluster another name`;
    return refuseControlPlane(draft, 'PlaneNameTaken', message, now);
  }
  if (live && isDeleting(live)) {
    const progress = conditionOf(live, 'Deleting')?.message ?? '';
    const message = `the control plane is being deleted and is created again when it is gone. ${progress}`.trim();
    return refuseControlPlane(draft, 'PlaneDeleting', message, now);
  }
  const plane = await ensurePlane(scope, childPlane(original, cluster), live);
  observeControlPlane(draft, plane, versionOf(scope, plane), now);
  await reportCluster(scope, cluster, plane);
}

/** Deletes the plane, and with it all objects it owns, before the finalizer is removed. */
export async function removeControlPlane(scope: ControlPlaneScope): Promise<void> {
  const { context, draft } = scope;
  const live = await findPlane(scope);
  if (!live || !isOurs(scope, live)) {
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, controlPlaneFinalizer);
    return;
  }
  if (!isDeleting(live)) {
    try {
      await context.client.delete(K0smotronClusters, objectKey(live), { signal: context.signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  const progress = conditionOf(live, 'Deleting');
  const begun = progress?.status === 'True';
  setVerdict(
    draft,
    'Deleting',
    {
      status: 'True',
      reason: begun ? progress.reason : 'Deleting',
      message: begun ? progress.message : 'the plane is being deleted',
    },
    context.clock.now(),
  );
}

/** Looks in the API if the cache has no plane: a stale cache must not make it count as deleted. */
async function findPlane({ context, original, clusterName }: ControlPlaneScope): Promise<K0smotronCluster | undefined> {
  if (clusterName === undefined) return undefined;
  const key = { namespace: original.metadata.namespace ?? '', name: clusterName };
  const cached = context.cache.lister(K0smotronClusters).get(key);
  return cached ?? (await context.client.get(K0smotronClusters, key, { signal: context.signal }).catch(ignoreNotFound));
}

/** Compares the owner by name, because uids change when objects are moved to another management cluster. */
const isOurs = ({ original }: ControlPlaneScope, plane: K0smotronCluster): boolean =>
  ownerOf(plane, K0smotronControlPlanes)?.name === original.metadata.name;

async function ensurePlane(
  { context, planes }: ControlPlaneScope,
  desired: K0smotronCluster,
  live: K0smotronCluster | undefined,
): Promise<K0smotronCluster> {
  const { client, signal } = context;
  if (live) {
    await takeOverFields(context, live);
    const plane = await planes.apply(client, K0smotronClusters, desired, live, signal);
    // removes an address that the user did not set: upstream or earlier versions of Capstan wrote a discovered one
    if (plane.spec.externalAddress === undefined || desired.spec.externalAddress !== undefined) return plane;
    const patch = { spec: { externalAddress: null } };
    return client.patch(K0smotronClusters, objectKey(plane), 'merge', patch, {
      fieldManager: planeFieldManager,
      signal,
    });
  }
  return planes.create(client, K0smotronClusters, desired, signal);
}

/** Returns the lowest version in a ready Pod. */
function versionOf({ context, original }: ControlPlaneScope, plane: K0smotronCluster): string | undefined {
  const { name: clusterName = '', namespace = '' } = plane.metadata;
  const owner = { apiVersion: '', kind: '', name: '', uid: '' };
  const names = k0smotronPlaneNames({ namespace, clusterName, owner, metadata: {}, spec: original.spec });
  const sight = seeControlPlane(context.cache, { layout: 'k0s', ...names });
  return sight && runningVersionOf({ layout: 'k0s' }, sight);
}
