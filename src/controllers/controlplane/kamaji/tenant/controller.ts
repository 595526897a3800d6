import {
  Clusters,
  clusterNameLabel,
  type DataStore,
  DataStores,
  KamajiControlPlanes,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../../client/index.ts';
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
import { ensureFinalizer, isDeleting, isFilteredOut, pausedBy, watchFilter } from '../../../shared/index.ts';
import { relevantClusterChange } from '../../cluster-of-plane.ts';
import { parentChanged } from '../../parent-and-child.ts';
import { createPlaneConnections } from '../../plane-connections.ts';
import { createPlaneDriver } from '../../plane-driver/index.ts';
import { defaultConcurrency, reconcilePlane } from '../../plane-reconcile.ts';
import type { OpenStore } from '../data-store/connect.ts';
import { dataStoreNameOf } from '../data-store/tenancy.ts';
import { pausedAnnotation, tenantFinalizer } from '../names.ts';
import { type KamajiDependencies, settingsOf } from '../scope.ts';
import { whyNotReady } from './data-store-spec.ts';
import { familyOf } from './family.ts';
import { reconcileTenant } from './reconcile.ts';
import { removeTenant } from './remove.ts';
import type { TenantScope } from './scope.ts';

/** Builds the controller of TenantControlPlanes: planes in one Deployment that store their data in a DataStore. */
export function tenantControlPlaneController(dependencies: KamajiDependencies, open: OpenStore): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const ways = createPlaneConnections(dependencies.connectWorkload);
  const settings = settingsOf(dependencies);
  const tenantsWhere = (filter: (tenant: TenantControlPlane) => boolean): ObjectKey[] =>
    dependencies.cache.lister(TenantControlPlanes).list({ filter }).map(objectKey);
  const ofCluster = ({ namespace, name }: ObjectKey): ObjectKey[] =>
    tenantsWhere(({ metadata }) => metadata.namespace === namespace && metadata.labels?.[clusterNameLabel] === name);
  const follower = dependencies.externals.follow(({ metadata }) => {
    const name = metadata.labels?.[clusterNameLabel];
    return name === undefined ? [] : ofCluster({ namespace: metadata.namespace ?? '', name });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const tenant = context.cache.lister(TenantControlPlanes).get(key);
    if (!tenant) {
      ways.forget(key);
      return done();
    }
    if (isFilteredOut(tenant, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, TenantControlPlanes, tenant, tenantFinalizer)) return done();
    const family = familyOf(context, tenant);
    if (family.isChild && !family.cluster && !isDeleting(tenant)) return done();
    const draft = clone(tenant);
    const scope: TenantScope = {
      context,
      driver,
      follower,
      ways,
      workloads: dependencies.workloads,
      open,
      settings,
      tenant,
      draft,
      ...family,
    };
    return await reconcilePlane(context, TenantControlPlanes, {
      original: tenant,
      draft,
      pauses: pausesOf(scope),
      reportsGeneration: false,
      reconcileNormal: () => reconcileTenant(scope),
      reconcileDelete: () => removeTenant(scope),
    });
  };

  return defineController({
    name: 'kamaji-tenant-control-plane',
    for: TenantControlPlanes,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      informers.informer(KamajiControlPlanes);
      informers.informer(DataStores);
      driver.setup(informers);
    },
    watches: [
      watchObjects(TenantControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...driver.watches(TenantControlPlanes),
      watchMapped(Clusters, (cluster) => ofCluster(objectKey(cluster)), { predicates: [relevantClusterChange] }),
      // a TenantControlPlane has the name of its KamajiControlPlane
      watchMapped(KamajiControlPlanes, (parent) => [objectKey(parent)], { predicates: [parentChanged] }),
      watchMapped(
        DataStores,
        (store: DataStore) => tenantsWhere((tenant) => dataStoreNameOf(tenant, settings) === store.metadata.name),
        { predicates: [storeChanged] },
      ),
    ],
    sources: [driver.source, follower.source, dependencies.workloads.connectionSource(ofCluster)],
    reconcile,
  });
}

/** Ignores changes of status.usedBy, which do not affect tenants. */
function storeChanged(event: { type: string; object: DataStore; old?: DataStore }): boolean {
  return (
    event.type !== 'update' ||
    event.object.status?.ready !== event.old?.status?.ready ||
    whyNotReady(event.object) !== whyNotReady(event.old) ||
    event.object.metadata.generation !== event.old?.metadata.generation
  );
}

function pausesOf({ tenant, cluster, parent }: TenantScope): string[] {
  const pauses = [...pausedBy(tenant, cluster), ...(parent ? pausedBy(parent, undefined) : [])];
  if (tenant.metadata.annotations?.[pausedAnnotation] !== undefined) {
    pauses.push(`${tenant.kind} has the ${pausedAnnotation} annotation`);
  }
  return pauses;
}
