import {
  Clusters,
  clusterNameLabel,
  type K0smotronCluster,
  K0smotronClusters,
  type K0smotronControlPlane,
  K0smotronControlPlanes,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, type KubeObject } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  soonest,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  ensureFinalizer,
  type Follower,
  isDeleting,
  isFilteredOut,
  isNotConnected,
  pausedBy,
  watchFilter,
  withoutFinalizer,
} from '../../shared/index.ts';
import { relevantClusterChange } from '../cluster-of-plane.ts';
import { parentChanged } from '../parent-and-child.ts';
import { setDeleting } from '../plane-conditions.ts';
import {
  annotatedBackup,
  annotatedRequests,
  createPlaneDriver,
  type PlaneDriver,
  warnOnce,
} from '../plane-driver/index.ts';
import { defaultConcurrency, type Outcome, type ProviderDependencies, reconcilePlane } from '../plane-reconcile.ts';
import { type CredentialKeeper, createCredentialKeeper } from './credential-keeper.ts';
import { aliasServiceName, familyOf, inputOfPlane, type PlaneFamily } from './family.ts';
import { planeFinalizer } from './names.ts';
import { isChild, type PlaneClients } from './plane-clients.ts';
import { observePlane, refusePlane } from './plane-status.ts';
import { type K0smotronSpecInput, k0smotronPlaneNames, k0smotronPlaneSpec } from './spec.ts';

/** State of one reconcile of a plane: the inputs and the draft that is written at the end. */
interface PlaneScope extends PlaneFamily {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  readonly clients: PlaneClients;
  readonly credentials: CredentialKeeper;
  readonly plane: K0smotronCluster;
  readonly draft: K0smotronCluster;
}

/**
 * Builds the controller of k0smotron.io Clusters: k0s planes in Pods, standalone or owned by a K0smotronControlPlane.
 */
export function k0smotronPlaneController(
  dependencies: ProviderDependencies,
  clients: PlaneClients,
): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const credentials = createCredentialKeeper();
  // planes have the names of their Clusters
  const planeNamed = (name: string | undefined, { metadata }: KubeObject): ObjectKey[] =>
    name === undefined ? [] : [{ namespace: metadata.namespace ?? '', name }];
  const follower = dependencies.externals.follow((object) =>
    planeNamed(object.metadata.labels?.[clusterNameLabel], object),
  );

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const plane = context.cache.lister(K0smotronClusters).get(key);
    if (!plane) {
      clients.forget(key);
      return done();
    }
    if (isFilteredOut(plane, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, K0smotronClusters, plane, planeFinalizer)) return done();
    const family = familyOf(context, plane);
    if (isChild(plane) && !family.cluster && !isDeleting(plane)) return done();
    const draft = clone(plane);
    const pauses = [...pausedBy(plane, family.cluster), ...(family.parent ? pausedBy(family.parent, undefined) : [])];
    const scope: PlaneScope = { context, driver, follower, clients, credentials, plane, draft, ...family };
    return await reconcilePlane(context, K0smotronClusters, {
      original: plane,
      draft,
      pauses,
      reportsGeneration: false,
      reconcileNormal: () => reconcileNormal(scope),
      reconcileDelete: () => reconcileDelete(scope),
    });
  };

  return defineController({
    name: 'k0smotron-plane',
    for: K0smotronClusters,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      informers.informer(K0smotronControlPlanes);
      driver.setup(informers);
    },
    watches: [
      watchObjects(K0smotronClusters, { predicates: watchFilter(dependencies.watchFilter) }),
      ...driver.watches(K0smotronClusters),
      watchMapped(Clusters, (cluster) => planeNamed(cluster.metadata.name, cluster), {
        predicates: [relevantClusterChange],
      }),
      watchMapped(
        K0smotronControlPlanes,
        (parent: K0smotronControlPlane) => planeNamed(parent.metadata.labels?.[clusterNameLabel], parent),
        { predicates: [parentChanged] },
      ),
    ],
    sources: [driver.source, follower.source, dependencies.workloads.connectionSource((cluster) => [cluster])],
    reconcile,
  });
}

function specInput({ context, plane, parent, cluster }: PlaneScope): K0smotronSpecInput {
  const alias = aliasServiceName(context, plane, parent);
  const backup = annotatedBackup(plane);
  return {
    ...inputOfPlane(plane),
    ...(cluster && { cluster }),
    ...(alias !== undefined && { aliasServiceName: alias }),
    ...(backup && { backup }),
  };
}

async function reconcileNormal(scope: PlaneScope): Promise<Outcome> {
  const { context, plane, draft, parent, cluster, driver, follower, clients } = scope;
  const now = context.clock.now();
  const translated = k0smotronPlaneSpec(specInput(scope));
  if ('problem' in translated) {
    refusePlane(draft, translated.problem, now);
    warnOnce(context, plane, translated.problem.reason, translated.problem.message);
    return { result: done() };
  }
  const probed = await clients.refresh(plane, context);
  const report = await driver.drive({
    context,
    owner: plane,
    desired: translated.desired,
    ...(cluster && { cluster, follower }),
    ...(!isChild(plane) && { workload: () => clients.client(plane) }),
    isInitialized: parent?.status?.initialization?.controlPlaneInitialized === true,
    ...annotatedRequests(plane),
  });
  observePlane(draft, report, now);
  const kept = report.isFunctional ? await keepCredentials(scope) : done();
  return {
    result: soonest(report.result, soonest(probed, kept)),
    ...(report.error !== undefined && { error: report.error }),
  };
}

async function keepCredentials({ context, plane, credentials, clients }: PlaneScope): Promise<Result> {
  try {
    return await credentials.look(context, plane, clients.client(plane));
  } catch (error) {
    // disconnected just now: the restored connection triggers a reconcile
    if (!isNotConnected(error)) throw error;
    return done();
  }
}

async function reconcileDelete(scope: PlaneScope): Promise<Outcome> {
  const { context, plane, draft, cluster, driver, clients } = scope;
  const input = specInput(scope);
  const { storage, persistence } = input.spec;
  const report = await driver.remove({
    context,
    owner: plane,
    ...(cluster && { cluster }),
    desired: k0smotronPlaneNames(input),
    volumes: {
      etcd: storage?.etcd?.autoDeletePVCs === true,
      controlPlane: persistence?.autoDeletePVCs === true,
    },
  });
  setDeleting(draft, report, context.clock.now());
  if (report.isGone) {
    clients.forget(objectKey(plane));
    scope.credentials.forget(plane);
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, planeFinalizer);
  }
  return { result: report.result };
}
