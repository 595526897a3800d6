import {
  type Cluster,
  clusterNameLabel,
  clusters,
  type K0smotronControlPlane,
  k0smotronClusters,
  k0smotronControlPlanes,
} from '../../../api/index.ts';
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
  watchOwned,
} from '../../../runtime/index.ts';
import {
  createApplyOnce,
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  ownerOf,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { clusterMatters } from './cluster-news.ts';
import { keepControlPlane, removeControlPlane } from './control-plane.ts';
import { controlPlaneFinalizer, planeFieldManager } from './names.ts';
import type { ControlPlaneScope, K0smotronDependencies } from './scope.ts';

const defaultConcurrency = 10;

/** K0smotronControlPlanes: each makes a plane for its Cluster, and shows how that is. */
export function k0smotronControlPlaneController(dependencies: K0smotronDependencies): ControllerDefinition {
  const planes = createApplyOnce(planeFieldManager);
  const follower = dependencies.externals.follow(() => []);
  const ofCluster = (cluster: Cluster): ObjectKey[] => {
    const reference = cluster.spec.controlPlaneRef;
    if (reference?.kind !== k0smotronControlPlanes.kind || reference.apiGroup !== k0smotronControlPlanes.group)
      return [];
    return [{ namespace: cluster.metadata.namespace ?? '', name: reference.name }];
  };

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const original = context.cache.lister(k0smotronControlPlanes).get(key);
    if (!original || isFilteredOut(original, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, k0smotronControlPlanes, original, controlPlaneFinalizer)) return done();
    const { cluster, clusterName } = clusterOf(original, context);
    // nobody's yet: the Cluster controller makes itself the owner of what its Cluster refers to
    if (clusterName === undefined && !isDeleting(original)) return done();
    const draft = clone(original);
    const pauses = pausedBy(original, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    const scope: ControlPlaneScope = { context, dependencies, planes, follower, cluster, clusterName, original, draft };
    if (pauses.length === 0) {
      if (isDeleting(original)) await removeControlPlane(scope);
      else if (cluster) await keepControlPlane(scope, cluster);
    }
    await writeObject(context, k0smotronControlPlanes, original, draft, { observed: false });
    return done();
  };

  return defineController({
    name: 'k0smotron-control-plane',
    for: k0smotronControlPlanes,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(clusters);
      informers.informer(k0smotronClusters);
    },
    watches: [
      watchObjects(k0smotronControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(k0smotronClusters, k0smotronControlPlanes, { anyOwner: true }),
      watchMapped(clusters, ofCluster, { predicates: [clusterMatters] }),
    ],
    sources: [follower.source],
    reconcile,
  });
}

function clusterOf(
  controlPlane: K0smotronControlPlane,
  { cache }: ReconcileContext,
): Pick<ControlPlaneScope, 'cluster' | 'clusterName'> {
  const { namespace = '', labels } = controlPlane.metadata;
  const clusterName = ownerOf(controlPlane, clusters)?.name ?? labels?.[clusterNameLabel];
  return {
    clusterName,
    cluster: clusterName === undefined ? undefined : cache.lister(clusters).get({ namespace, name: clusterName }),
  };
}
