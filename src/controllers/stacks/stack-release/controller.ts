import {
  type Cluster,
  ClusterClasses,
  ClusterStackReleases,
  Clusters,
  HostedControlPlaneTemplates,
  KubeadmConfigTemplates,
  KubeadmControlPlaneTemplates,
  OpenStackClusterStackReleases,
  OpenStackClusterTemplates,
  OpenStackMachineTemplates,
} from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { isDeleting, isFilteredOut, pausedBy, watchFilter, withFinalizer } from '../../shared/index.ts';
import { defaultConcurrency, type StackDependencies } from '../dependencies.ts';
import { releaseAnnotation, releaseFinalizer } from '../names.ts';
import { stackUseOf } from '../uses.ts';
import { reconcileRelease } from './reconcile.ts';
import { removeRelease } from './remove.ts';

/**
 * Builds the controller of ClusterStackReleases, each of which keeps the ClusterClass of a release in its namespace.
 */
export function clusterStackReleaseController(dependencies: StackDependencies): ControllerDefinition {
  const releaseOfObject = ({ metadata }: KubeObject): ObjectKey[] => {
    const name = metadata.annotations?.[releaseAnnotation];
    const { namespace } = metadata;
    return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
  };
  /** a release being deleted waits for Clusters that use it */
  const releaseOfCluster = (cluster: Cluster): ObjectKey[] => {
    const use = stackUseOf(cluster);
    return use === undefined ? [] : [{ namespace: use.namespace, name: use.release }];
  };
  const drift = { predicates: [changedBesidesStatus] };

  return defineController({
    name: 'cluster-stack-release',
    for: ClusterStackReleases,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
    },
    watches: [
      watchObjects(ClusterStackReleases, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(OpenStackClusterStackReleases, ClusterStackReleases),
      watchMapped(Clusters, releaseOfCluster, { predicates: [changedBesidesStatus] }),
      watchMapped(ClusterClasses, releaseOfObject, drift),
      watchMapped(OpenStackClusterTemplates, releaseOfObject, drift),
      watchMapped(OpenStackMachineTemplates, releaseOfObject, drift),
      watchMapped(KubeadmConfigTemplates, releaseOfObject, drift),
      watchMapped(KubeadmControlPlaneTemplates, releaseOfObject, drift),
      watchMapped(HostedControlPlaneTemplates, releaseOfObject, drift),
    ],
    async reconcile(context, key) {
      const release = context.cache.lister(ClusterStackReleases).get(key);
      if (!release || isFilteredOut(release, dependencies.watchFilter)) return done();
      if (pausedBy(release, undefined).length > 0) return done();
      if (isDeleting(release)) return await removeRelease(context, release, dependencies);
      const held = await withFinalizer(context, ClusterStackReleases, release, releaseFinalizer);
      return await reconcileRelease(context, held, dependencies);
    },
  });
}
