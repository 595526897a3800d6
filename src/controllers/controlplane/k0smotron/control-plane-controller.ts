import { Clusters, K0smotronClusters, K0smotronControlPlanes } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { clone } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  childWatches,
  createApplyOnce,
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  isTrue,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { clusterOfPlane, controlPlanesOf, relevantClusterChange } from '../cluster-of-plane.ts';
import { defaultConcurrency, type ProviderDependencies } from '../plane-reconcile.ts';
import { reconcileControlPlane, removeControlPlane } from './control-plane.ts';
import { controlPlaneFinalizer, planeFieldManager } from './names.ts';
import type { ControlPlaneScope } from './scope.ts';

/** Builds the controller of K0smotronControlPlanes, each of which owns a plane for its Cluster. */
export function k0smotronControlPlaneController(dependencies: ProviderDependencies): ControllerDefinition {
  const planes = createApplyOnce(planeFieldManager);
  const follower = dependencies.externals.follow(() => []);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const original = context.cache.lister(K0smotronControlPlanes).get(key);
    if (!original || isFilteredOut(original, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, K0smotronControlPlanes, original, controlPlaneFinalizer)) return done();
    const { cluster, clusterName } = clusterOfPlane(context.cache, original);
    // no owner yet: the Cluster controller sets the owner reference
    if (clusterName === undefined && !isDeleting(original)) return done();
    const draft = clone(original);
    const pauses = pausedBy(original, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    const scope: ControlPlaneScope = { context, dependencies, planes, follower, cluster, clusterName, original, draft };
    if (pauses.length === 0) {
      if (isDeleting(original)) await removeControlPlane(scope);
      else if (cluster) await reconcileControlPlane(scope, cluster);
    }
    await writeObject(context, K0smotronControlPlanes, original, draft, { observed: false });
    return done();
  };

  return defineController({
    name: 'k0smotron-control-plane',
    for: K0smotronControlPlanes,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      informers.informer(K0smotronClusters);
    },
    watches: [
      watchObjects(K0smotronControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...childWatches(K0smotronClusters, K0smotronControlPlanes, (plane) =>
        JSON.stringify([isTrue(plane, 'ControlPlaneFunctional'), plane.status?.controlPlaneEndpoint]),
      ),
      watchMapped(Clusters, (cluster) => controlPlanesOf(cluster, K0smotronControlPlanes), {
        predicates: [relevantClusterChange],
      }),
    ],
    sources: [follower.source],
    reconcile,
  });
}
