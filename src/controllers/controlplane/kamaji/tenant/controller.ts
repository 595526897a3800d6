import {
  clusterNameLabel,
  clusters,
  type DataStore,
  dataStores,
  kamajiControlPlanes,
  Secrets,
  type TenantControlPlane,
  tenantControlPlanes,
} from '../../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../../client/index.ts';
import { clone, type KubeObject, type Resource } from '../../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../../runtime/index.ts';
import {
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../../shared/index.ts';
import { createPlaneDriver } from '../../hosting/index.ts';
import { clusterMatters } from '../../k0smotron/cluster-news.ts';
import { createPlaneWays } from '../../plane-ways.ts';
import type { OpenStore } from '../data-store/connect.ts';
import { dataStoreNameOf } from '../data-store/tenancy.ts';
import { pausedAnnotation, tenantFinalizer } from '../names.ts';
import { defaultConcurrency, type KamajiDependencies, settingsOf } from '../scope.ts';
import { familyOf } from './family.ts';
import { keepTenant } from './keep.ts';
import { removeTenant } from './remove.ts';
import type { TenantScope } from './scope.ts';

/** TenantControlPlanes: planes in one Deployment, with their data in a DataStore. */
export function tenantControlPlaneController(dependencies: KamajiDependencies, open: OpenStore): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const ways = createPlaneWays(dependencies.connectWorkload);
  const settings = settingsOf(dependencies);
  const tenantsWhere = (filter: (tenant: TenantControlPlane) => boolean): ObjectKey[] =>
    dependencies.cache.lister(tenantControlPlanes).list({ filter }).map(objectKey);
  const ofCluster = (cluster: KubeObject): ObjectKey[] =>
    tenantsWhere(
      ({ metadata }) =>
        metadata.namespace === cluster.metadata.namespace &&
        metadata.labels?.[clusterNameLabel] === cluster.metadata.name,
    );
  const follower = dependencies.externals.follow((object) => {
    const name = object.metadata.labels?.[clusterNameLabel];
    return name === undefined ? [] : ofCluster({ ...object, metadata: { ...object.metadata, name } });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const tenant = context.cache.lister(tenantControlPlanes).get(key);
    if (!tenant) {
      ways.forget(key);
      return done();
    }
    if (isFilteredOut(tenant, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, tenantControlPlanes, tenant, tenantFinalizer)) return done();
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
    const pauses = pausesOf(scope);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    const { result, error } =
      pauses.length > 0 ? { result: done() } : await (isDeleting(tenant) ? removeTenant(scope) : keepTenant(scope));
    await writeObject(context, tenantControlPlanes, tenant, draft, { observed: false });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: 'kamaji-tenant-control-plane',
    for: tenantControlPlanes,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(clusters);
      informers.informer(kamajiControlPlanes);
      informers.informer(dataStores);
      driver.setup(informers);
    },
    watches: [
      watchObjects(tenantControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...driver.watches(tenantControlPlanes as unknown as Resource<KubeObject>),
      watchOwned(Secrets, tenantControlPlanes),
      watchMapped(clusters, ofCluster, { predicates: [clusterMatters] }),
      // a TenantControlPlane has the name of what made it
      watchMapped(kamajiControlPlanes, (parent) => [objectKey(parent)]),
      watchMapped(
        dataStores,
        (store: DataStore) => tenantsWhere((tenant) => dataStoreNameOf(tenant, settings) === store.metadata.name),
        { predicates: [storeMatters] },
      ),
    ],
    sources: [
      driver.source,
      follower.source,
      dependencies.workloads.connectionSource((key) =>
        tenantsWhere(
          ({ metadata }) => metadata.namespace === key.namespace && metadata.labels?.[clusterNameLabel] === key.name,
        ),
      ),
    ],
    reconcile,
  });
}

/** By whom it is used is news to nobody who uses it. */
function storeMatters(event: { type: string; object: DataStore; old?: DataStore }): boolean {
  return (
    event.type !== 'update' ||
    event.object.status?.ready !== event.old?.status?.ready ||
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
