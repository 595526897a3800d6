import {
  type Cluster,
  type ClusterAddon,
  ClusterAddons,
  type ClusterStackRelease,
  ClusterStackReleases,
  Clusters,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { isAlreadyExists } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  createDriftWatch,
  createRepairs,
  isDeleting,
  isFilteredOut,
  ownerReference,
  pausedBy,
  watchFilter,
} from '../../shared/index.ts';
import { defaultConcurrency, type StackDependencies } from '../dependencies.ts';
import { stackFieldManager } from '../names.ts';
import { stackUseOf } from '../uses.ts';
import { addonKey } from './names.ts';
import { type AddonTools, reconcileAddons } from './reconcile.ts';

/**
 * Builds the controller of Clusters whose class comes from a cluster stack: each gets a ClusterAddon, and the add-ons
 * of its release in the workload cluster.
 */
export function clusterAddonController(dependencies: StackDependencies): ControllerDefinition {
  const { cache, workloads, clock, random } = dependencies;
  const tools: AddonTools = {
    ...dependencies,
    drift: createDriftWatch({ clock, random }),
    repairs: createRepairs(),
    contracts: dependencies.externals.follow(() => []),
    workloadKinds: new WeakMap(),
  };
  const clusterOf = ({ metadata, spec }: ClusterAddon): ObjectKey[] => {
    const { namespace } = metadata;
    return namespace === undefined || !spec?.clusterRef?.name ? [] : [{ namespace, name: spec.clusterRef.name }];
  };
  const clustersOf = ({ metadata }: ClusterStackRelease): ObjectKey[] =>
    cache
      .lister(Clusters)
      .list({
        filter: (cluster) => {
          const use = stackUseOf(cluster);
          return use?.release === metadata.name && use?.namespace === metadata.namespace;
        },
      })
      .map(objectKey);

  return defineController({
    name: 'cluster-addon',
    for: Clusters,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(ClusterStackReleases);
      informers.informer(ClusterAddons);
    },
    watches: [
      watchObjects(Clusters, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(ClusterAddons, clusterOf),
      watchMapped(ClusterStackReleases, clustersOf),
    ],
    sources: [workloads.connectionSource((cluster) => [cluster]), tools.drift.source],
    async reconcile(context, key) {
      const cluster = context.cache.lister(Clusters).get(key);
      const use = cluster && stackUseOf(cluster);
      if (!cluster || isDeleting(cluster) || use === undefined) {
        tools.drift.keepOnly(key, new Set());
        tools.repairs.forget(key);
        return done();
      }
      if (isFilteredOut(cluster, dependencies.watchFilter) || pausedBy(cluster, cluster).length > 0) return done();
      // a class with such a name but without a release has no add-ons
      const release = context.cache.lister(ClusterStackReleases).get({ namespace: use.namespace, name: use.release });
      const addon = context.cache.lister(ClusterAddons).get(addonKey(key));
      if (addon === undefined) {
        if (release !== undefined) await createAddon(context, cluster);
        return done();
      }
      if (isDeleting(addon)) return done();
      return await reconcileAddons(context, { cluster, addon, use }, tools);
    },
  });
}

async function createAddon({ client, signal }: ReconcileContext, cluster: Cluster): Promise<void> {
  const { namespace = '', name = '' } = cluster.metadata;
  const addon: ClusterAddon = {
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterAddon',
    metadata: {
      ...addonKey({ namespace, name }),
      ownerReferences: [ownerReference(cluster, Clusters)],
    },
    spec: { clusterRef: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', namespace, name } },
  };
  try {
    await client.create(ClusterAddons, addon, { fieldManager: stackFieldManager, signal });
  } catch (error) {
    // the cache was stale; the watch triggers a reconcile
    if (!isAlreadyExists(error)) throw error;
  }
}
