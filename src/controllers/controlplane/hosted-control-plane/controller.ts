import { Clusters, clusterNameLabel, HostedControlPlanes } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { clone } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  pausedBy,
  watchFilter,
  withoutFinalizer,
} from '../../shared/index.ts';
import { clusterOfPlane, controlPlanesOf, relevantClusterChange } from '../cluster-of-plane.ts';
import { setDeleting } from '../plane-conditions.ts';
import { annotatedBackup, annotatedRequests, createPlaneDriver, warnOnce } from '../plane-driver/index.ts';
import { defaultConcurrency, type Outcome, type ProviderDependencies, reconcilePlane } from '../plane-reconcile.ts';
import { reconcileAuditWebhook } from './audit-webhook.ts';
import { hostedFinalizer } from './names.ts';
import type { HostedScope } from './scope.ts';
import { hostedPlaneNames, hostedPlaneSpec } from './spec.ts';
import { observeHosted, refuseHosted } from './status.ts';
import { growVolumes } from './volumes.ts';

/** Secrets of other owners are not watched, so a missing one is polled. */
const retryMs = 30_000;

/**
 * Builds the controller of HostedControlPlanes: one Deployment per component, an etcd of three members, access through
 * a Gateway.
 */
export function hostedControlPlaneController(dependencies: ProviderDependencies): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const planesOf = (key: ObjectKey): ObjectKey[] => {
    const cluster = dependencies.cache.lister(Clusters).get(key);
    return cluster ? controlPlanesOf(cluster, HostedControlPlanes) : [];
  };
  const follower = dependencies.externals.follow(({ metadata }) => {
    const name = metadata.labels?.[clusterNameLabel];
    return name === undefined ? [] : planesOf({ namespace: metadata.namespace ?? '', name });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const controlPlane = context.cache.lister(HostedControlPlanes).get(key);
    if (!controlPlane || isFilteredOut(controlPlane, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, HostedControlPlanes, controlPlane, hostedFinalizer)) return done();
    const { cluster, clusterName = controlPlane.metadata.name ?? '' } = clusterOfPlane(context.cache, controlPlane);
    // no owner yet: the Cluster controller sets the owner reference
    if (!cluster && !isDeleting(controlPlane)) return done();
    const draft = clone(controlPlane);
    const scope: HostedScope = { context, driver, follower, controlPlane, draft, clusterName, cluster };
    return await reconcilePlane(context, HostedControlPlanes, {
      original: controlPlane,
      draft,
      pauses: pausedBy(controlPlane, cluster),
      reportsGeneration: true,
      reconcileNormal: () => reconcileNormal(scope),
      reconcileDelete: () => reconcileDelete(scope),
    });
  };

  return defineController({
    name: 'hosted-control-plane',
    for: HostedControlPlanes,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      driver.setup(informers);
    },
    watches: [
      watchObjects(HostedControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...driver.watches(HostedControlPlanes),
      watchMapped(Clusters, (cluster) => controlPlanesOf(cluster, HostedControlPlanes), {
        predicates: [relevantClusterChange],
      }),
    ],
    sources: [driver.source, follower.source, dependencies.workloads.connectionSource(planesOf)],
    reconcile,
  });
}

async function reconcileNormal(scope: HostedScope): Promise<Outcome> {
  const { context, controlPlane, draft, cluster, clusterName, driver, follower } = scope;
  const problem = await reconcileAuditWebhook(scope);
  if (problem) {
    refuseHosted(draft, problem, context.clock.now());
    warnOnce(context, controlPlane, problem.reason, problem.message);
    return { result: after(retryMs, 'a Secret that belongs to others') };
  }
  const backup = annotatedBackup(controlPlane);
  const desired = hostedPlaneSpec({ controlPlane, clusterName, cluster, backup });
  const report = await driver.drive({
    context,
    owner: controlPlane,
    desired,
    ...(cluster && { cluster, follower }),
    isInitialized: controlPlane.status?.initialization?.controlPlaneInitialized === true,
    ...annotatedRequests(controlPlane),
  });
  observeHosted(draft, report, context.clock.now());
  await growVolumes(scope, desired);
  return { result: report.result, ...(report.error !== undefined && { error: report.error }) };
}

/** Deletes volumes together with the plane, as upstream does. */
async function reconcileDelete({
  context,
  controlPlane,
  draft,
  cluster,
  clusterName,
  driver,
}: HostedScope): Promise<Outcome> {
  const report = await driver.remove({
    context,
    owner: controlPlane,
    ...(cluster && { cluster }),
    desired: hostedPlaneNames({ controlPlane, clusterName }),
    volumes: { etcd: true, controlPlane: true },
  });
  setDeleting(draft, report, context.clock.now());
  if (report.isGone) {
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, hostedFinalizer);
  }
  return { result: report.result };
}
