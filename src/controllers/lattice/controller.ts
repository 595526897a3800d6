import {
  ClusterResourceSets,
  Clusters,
  ConfigMaps,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  type LatticeCluster,
  LatticeClusters,
  latticeSettings,
  MachineDeployments,
  MachineSets,
  type Namespace,
  Namespaces,
  OpenStackClusters,
  OpenStackMachineTemplates,
  RKE2ConfigTemplates,
  RKE2ControlPlanes,
  type Secret,
  Secrets,
} from '../../api/index.ts';
import { type ObjectKey, objectKey } from '../../client/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../runtime/index.ts';
import {
  draftOf,
  isDeleting,
  isFilteredOut,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  withFinalizer,
  writeObject,
} from '../shared/index.ts';
import type { LatticeDependencies } from './dependencies.ts';
import { latticeClusterLabel, latticeFinalizer } from './names.ts';
import { reconcileCluster } from './reconcile.ts';
import { removeCluster } from './remove.ts';
import { manageElsewhere } from './self/elsewhere.ts';
import { isElsewhere } from './self/stage.ts';

const defaultConcurrency = 4;

/** Builds the controller of LatticeClusters, each of which is expanded to the objects of a whole cluster. */
export function latticeClusterController(dependencies: LatticeDependencies): ControllerDefinition {
  const { cache } = dependencies;
  const owned = { anyOwner: true } as const;
  const drift = { ...owned, predicates: [changedBesidesStatus] };
  /** LatticeClusters that use a credentials Secret */
  const usersOf = ({ metadata: { namespace, name } }: Secret): ObjectKey[] =>
    cache
      .lister(LatticeClusters)
      .list({
        filter: (cluster) => {
          const secret = latticeSettings(cluster)?.secret;
          return secret?.name === name && secret?.namespace === namespace;
        },
      })
      .map(objectKey);
  const clusterOfNamespace = ({ metadata: { labels } }: Namespace): ObjectKey[] => {
    const name = labels?.[latticeClusterLabel];
    return name === undefined ? [] : [{ name }];
  };
  return defineController({
    name: 'lattice-cluster',
    for: LatticeClusters,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    groupOf: ({ name }) => name,
    setup(informers) {
      informers.informer(MachineSets);
    },
    watches: [
      watchObjects(LatticeClusters, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(Clusters, LatticeClusters, owned),
      watchOwned(MachineDeployments, LatticeClusters, owned),
      watchOwned(ClusterResourceSets, LatticeClusters, owned),
      watchOwned(KubeadmControlPlanes, LatticeClusters, owned),
      watchOwned(RKE2ControlPlanes, LatticeClusters, owned),
      watchOwned(RKE2ConfigTemplates, LatticeClusters, drift),
      watchOwned(KubeadmConfigTemplates, LatticeClusters, drift),
      watchOwned(OpenStackClusters, LatticeClusters, drift),
      watchOwned(OpenStackMachineTemplates, LatticeClusters, drift),
      watchOwned(ConfigMaps, LatticeClusters, drift),
      watchOwned(Secrets, LatticeClusters, drift),
      watchMapped(Secrets, usersOf),
      watchMapped(Namespaces, clusterOfNamespace),
    ],
    sources: [dependencies.self?.cell?.source, dependencies.parent?.source].filter((source) => source !== undefined),
    async reconcile(context, key) {
      const found = context.cache.lister(LatticeClusters).get(key);
      if (!found || isFilteredOut(found, dependencies.watchFilter)) return done();
      const pauses = pausedBy(found, undefined);
      const cluster = await notePause(context, found, pauses);
      if (pauses.length > 0) return done();
      if (isElsewhere(cluster)) return await manageElsewhere(context, cluster, dependencies);
      if (isDeleting(cluster)) return await removeCluster(context, cluster, dependencies);
      const held = await withFinalizer(context, LatticeClusters, cluster, latticeFinalizer);
      return await reconcileCluster(context, held, dependencies);
    },
  });
}

async function notePause(
  context: ReconcileContext,
  cluster: LatticeCluster,
  pauses: readonly string[],
): Promise<LatticeCluster> {
  const draft = draftOf(cluster);
  // the kind has no v1beta1 conditions
  setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
  return await writeObject(context, LatticeClusters, cluster, draft, { observed: false });
}
