import {
  clusterNameLabel,
  clusters,
  type HostedControlPlane,
  hostedControlPlanes,
  Secrets,
} from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { clone, type KubeObject, type Resource } from '../../../machinery/index.ts';
import {
  after,
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
  ensureFinalizer,
  isDeleting,
  isFilteredOut,
  ownerOf,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { annotatedBackup, annotatedRequests, createPlaneDriver } from '../hosting/index.ts';
import { clusterMatters } from '../k0smotron/cluster-news.ts';
import { keepAuditWebhook } from './audit-webhook.ts';
import { hostedFinalizer } from './names.ts';
import type { HostedDependencies, HostedScope, Outcome } from './scope.ts';
import { observeHosted, observeRemoval, refuseHosted } from './status.ts';
import { growVolumes } from './volumes.ts';
import { hostedPlaneNames, hostedWish } from './wish.ts';

const defaultConcurrency = 10;
/** Nobody tells when a Secret comes that is not ours. */
const retryMs = 30_000;

/** HostedControlPlanes: a Deployment for each program, an etcd of three members, reached through a Gateway. */
export function hostedControlPlaneController(dependencies: HostedDependencies): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const planesOf = ({ namespace = '', name }: ObjectKey): ObjectKey[] => {
    const cluster = dependencies.cache.lister(clusters).get({ namespace, name });
    const reference = cluster?.spec.controlPlaneRef;
    const isOurs = reference?.kind === hostedControlPlanes.kind && reference.apiGroup === hostedControlPlanes.group;
    return isOurs ? [{ namespace, name: reference.name }] : [];
  };
  const follower = dependencies.externals.follow(({ metadata }) => {
    const name = metadata.labels?.[clusterNameLabel];
    return name === undefined ? [] : planesOf({ namespace: metadata.namespace ?? '', name });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const controlPlane = context.cache.lister(hostedControlPlanes).get(key);
    if (!controlPlane || isFilteredOut(controlPlane, dependencies.watchFilter)) return done();
    if (await ensureFinalizer(context, hostedControlPlanes, controlPlane, hostedFinalizer)) return done();
    const clusterName = clusterNameOf(controlPlane);
    const { namespace = '' } = controlPlane.metadata;
    const cluster = context.cache.lister(clusters).get({ namespace, name: clusterName });
    // nobody's yet: the Cluster controller makes itself the owner of what its Cluster refers to
    if (!cluster && !isDeleting(controlPlane)) return done();
    const draft = clone(controlPlane);
    const pauses = pausedBy(controlPlane, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    const scope: HostedScope = { context, driver, follower, controlPlane, draft, clusterName, cluster };
    const { result, error } =
      pauses.length > 0 ? { result: done() } : await (isDeleting(controlPlane) ? remove(scope) : keep(scope));
    await writeObject(context, hostedControlPlanes, controlPlane, draft, { observed: pauses.length === 0 });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: 'hosted-control-plane',
    for: hostedControlPlanes,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(clusters);
      driver.setup(informers);
    },
    watches: [
      watchObjects(hostedControlPlanes, { predicates: watchFilter(dependencies.watchFilter) }),
      ...driver.watches(hostedControlPlanes as unknown as Resource<KubeObject>),
      watchOwned(Secrets, hostedControlPlanes),
      watchMapped(
        clusters,
        ({ metadata }) => planesOf({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }),
        { predicates: [clusterMatters] },
      ),
    ],
    sources: [driver.source, follower.source, dependencies.workloads.connectionSource(planesOf)],
    reconcile,
  });
}

function clusterNameOf(controlPlane: HostedControlPlane): string {
  const { labels, name = '' } = controlPlane.metadata;
  return ownerOf(controlPlane, clusters)?.name ?? labels?.[clusterNameLabel] ?? name;
}

async function keep(scope: HostedScope): Promise<Outcome> {
  const { context, controlPlane, draft, cluster, clusterName, driver, follower } = scope;
  const problem = await keepAuditWebhook(scope);
  if (problem) {
    refuseHosted(draft, problem, context.clock.now());
    return { result: after(retryMs, 'a Secret of somebody else') };
  }
  const backup = annotatedBackup(controlPlane);
  const wish = hostedWish({ controlPlane, clusterName, cluster, backup });
  const report = await driver.drive({
    context,
    owner: controlPlane,
    wish,
    ...(cluster && { cluster, follower }),
    isInitialized: controlPlane.status?.initialization?.controlPlaneInitialized === true,
    ...annotatedRequests(controlPlane),
  });
  observeHosted(draft, report, context.clock.now());
  await growVolumes(scope, wish);
  return { result: report.result, ...(report.error !== undefined && { error: report.error }) };
}

/** Volumes go with the plane, as its users expect. */
async function remove({ context, controlPlane, draft, cluster, clusterName, driver }: HostedScope): Promise<Outcome> {
  const report = await driver.remove({
    context,
    owner: controlPlane,
    ...(cluster && { cluster }),
    wish: hostedPlaneNames({ controlPlane, clusterName }),
    volumes: { etcd: true, controlPlane: true },
  });
  observeRemoval(draft, report, context.clock.now());
  if (report.isGone) {
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, hostedFinalizer);
  }
  return { result: report.result };
}
