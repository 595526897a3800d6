import {
  Clusters,
  KamajiControlPlanes,
  Secrets,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import type { ObjectKey } from '../../../../client/index.ts';
import { clone } from '../../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import {
  childWatches,
  createApplyOnce,
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  isTrue,
  ownerOf,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../../shared/index.ts';
import { clusterOfPlane, controlPlanesOf, relevantClusterChange } from '../../cluster-of-plane.ts';
import { defaultConcurrency } from '../../plane-reconcile.ts';
import { controlPlaneFieldManager, controlPlaneFinalizer } from '../names.ts';
import type { KamajiDependencies } from '../scope.ts';
import { reconcileControlPlane, removeControlPlane } from './reconcile.ts';
import type { ControlPlaneScope } from './scope.ts';

/** Builds the controller of KamajiControlPlanes, each of which owns a TenantControlPlane for its Cluster. */
export function kamajiControlPlaneController(dependencies: KamajiDependencies): ControllerDefinition {
  const tenants = createApplyOnce(controlPlaneFieldManager);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const original = context.cache.lister(KamajiControlPlanes).get(key);
    if (!original || isFilteredOut(original, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, KamajiControlPlanes, original, controlPlaneFinalizer)) return done();
    const { cluster } = clusterOfPlane(context.cache, original);
    // no owner yet: the Cluster controller sets the owner reference
    if (!cluster && !isDeleting(original)) return done();
    const draft = clone(original);
    const pauses = pausedBy(original, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    const scope: ControlPlaneScope = { context, tenants, cluster, original, draft };
    if (pauses.length === 0) {
      if (isDeleting(original)) await removeControlPlane(scope);
      else if (cluster) await reconcileControlPlane(scope, cluster);
    }
    // fields that the schema requires in the status
    draft.status = { ready: false, version: '', externalManagedControlPlane: true, ...draft.status };
    await writeObject(context, KamajiControlPlanes, original, draft, { observed: false });
    return done();
  };

  return defineController({
    name: 'kamaji-control-plane',
    for: KamajiControlPlanes,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      informers.informer(TenantControlPlanes);
      informers.informer(Secrets);
    },
    watches: [
      watchObjects(KamajiControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...childWatches(TenantControlPlanes, KamajiControlPlanes, decisiveOf),
      watchMapped(Clusters, (cluster) => controlPlanesOf(cluster, KamajiControlPlanes), {
        predicates: [relevantClusterChange],
      }),
      // Secrets of the TenantControlPlane, which has the name of the KamajiControlPlane, and Secrets derived from them
      watchMapped(Secrets, (secret) => {
        const owner = ownerOf(secret, TenantControlPlanes) ?? ownerOf(secret, KamajiControlPlanes);
        return owner ? [{ namespace: secret.metadata.namespace ?? '', name: owner.name }] : [];
      }),
    ],
    reconcile,
  });
}

/** The status fields that the Cluster depends on: the API endpoint and whether it is usable. */
function decisiveOf(tenant: TenantControlPlane): string {
  const { controlPlaneEndpoint = '' } = tenant.status ?? {};
  return [controlPlaneEndpoint, isTrue(tenant, 'Functional'), isTrue(tenant, 'AddonsAvailable')].join();
}
