import {
  type Cluster,
  type ClusterResource,
  type ClusterResourceSet,
  type ClusterResourceSetBinding,
  ClusterResourceSetBindings,
  ClusterResourceSets,
  Clusters,
  ConfigMaps,
  type ResourceBinding,
  Secrets,
} from '../../api/index.ts';
import { type Client, hasContent, type ObjectKey, objectKey } from '../../client/index.ts';
import { CapstanError, deepEqual, formatTime, ignoreNotFound, type KubeObject } from '../../machinery/index.ts';
import {
  after,
  afterPatiently,
  allOf,
  anyOf,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  labelsChanged,
  type ReconcileContext,
  type Result,
  soonest,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import {
  clusterChanged,
  createRepairs,
  createServedKinds,
  explain,
  isDeleting,
  isNotConnected,
  type ServedKinds,
} from '../shared/index.ts';
import { applyPayload, createPayload, type PayloadTarget } from './apply-payload.ts';
import { boundResource, maxSets, type SetRecord, writeBinding } from './binding.ts';
import type { ResourceSetDependencies } from './dependencies.ts';
import { clustersOf, setsOf } from './matching.ts';
import type { ClusterProblem } from './outcomes.ts';
import type { Payload } from './payload.ts';
import { isUsable } from './sources.ts';

const defaultConcurrency = 10;
/** Interval of drift checks for clusters with more kinds of objects than are watched. */
const lookMs = 10 * 60_000;
const bySource = 'resourceSetSource';

const sourceIndexValue = (namespace: string | undefined, kind: string, name: string | undefined): string =>
  `${namespace ?? ''}/${kind}/${name ?? ''}`;

/** Applies the objects of matching ClusterResourceSets to each cluster and records the result in its binding. */
export function bindingController(dependencies: ResourceSetDependencies): ControllerDefinition {
  const { cache, workloads, outcomes, drift, sources } = dependencies;
  const repairs = createRepairs();
  const kindsByClient = new WeakMap<Client, ServedKinds>();
  const kindsOf = (client: Client): ServedKinds => {
    const known = kindsByClient.get(client) ?? createServedKinds(client);
    kindsByClient.set(client, known);
    return known;
  };
  const clustersOfSet = (set: ClusterResourceSet): ObjectKey[] => clustersOf(cache, set).map(objectKey);
  const clustersOfSource = (object: KubeObject): ObjectKey[] =>
    cache
      .lister(ClusterResourceSets)
      .byIndex(bySource, sourceIndexValue(object.metadata.namespace, object.kind, object.metadata.name))
      .flatMap(clustersOfSet);
  const contentChanged = allOf<KubeObject & { data?: unknown }>(
    (event) =>
      event.type !== 'update' ||
      !hasContent(event.object) ||
      !hasContent(event.old) ||
      !deepEqual(event.object.data, event.old.data),
  );

  const forget = (cluster: ObjectKey): void => {
    drift.keepOnly(cluster, new Set());
    repairs.forget(cluster);
    outcomes.put(cluster, new Map());
  };

  return defineController({
    name: 'clusterresourcesetbinding',
    for: Clusters,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(factory) {
      factory
        .informer(ClusterResourceSets)
        .addIndexer(bySource, ({ metadata, spec }) =>
          spec.resources.map(({ kind, name }) => sourceIndexValue(metadata.namespace, kind, name)),
        );
    },
    watches: [
      watchObjects(Clusters, { predicates: [anyOf(clusterChanged('paused', 'deletion'), labelsChanged)] }),
      watchObjects(ClusterResourceSetBindings),
      watchMapped(ClusterResourceSets, clustersOfSet, { predicates: [changedBesidesStatus] }),
      watchMapped(Secrets, clustersOfSource, { predicates: [contentChanged] }),
      watchMapped(ConfigMaps, clustersOfSource, { predicates: [contentChanged] }),
    ],
    sources: [workloads.connectionSource((cluster) => [cluster]), drift.source],
    released: forget,
    async reconcile(context, key) {
      const cluster = context.cache.lister(Clusters).get(key);
      const binding = context.cache.lister(ClusterResourceSetBindings).get(key);
      if (!cluster || isDeleting(cluster)) {
        forget(key);
        if (binding && !isDeleting(binding)) {
          await context.client
            .delete(ClusterResourceSetBindings, key, { signal: context.signal })
            .catch(ignoreNotFound);
        }
        return done();
      }
      const sets = setsOf(context.cache, cluster, dependencies.watchFilter);
      if (sets.length === 0) {
        forget(key);
        return done();
      }
      return await distribute(context, cluster, binding, sets);
    },
  });

  async function distribute(
    context: ReconcileContext,
    cluster: Cluster,
    binding: ClusterResourceSetBinding | undefined,
    sets: readonly ClusterResourceSet[],
  ): Promise<Result> {
    const key = objectKey(cluster);
    const access = accessTo(cluster);
    const known = new Set<string>();
    const bySet = new Map<string, ClusterProblem[]>();
    const records: SetRecord[] = [];
    const results: Result[] = [];
    let failed = false;
    for (const [index, set] of sets.entries()) {
      const problems: ClusterProblem[] = [];
      bySet.set(set.metadata.name ?? '', problems);
      if (index >= maxSets) {
        problems.push({ reason: 'ApplyFailed', message: `it matches more than ${maxSets} ClusterResourceSets` });
        continue;
      }
      const resources: ResourceBinding[] = [];
      for (const reference of set.spec.resources) {
        const before = boundResource(binding, set, reference);
        const source = sources(context.cache, cluster.metadata.namespace ?? '', reference);
        // the condition of the set reports the problem; the binding keeps the earlier result
        if (!isUsable(source)) {
          if (before) resources.push(before);
          continue;
        }
        const one: Part = { set, reference, payload: source.payload, before };
        if ('problem' in access) {
          if (before) resources.push(before);
          if (!isDone(one)) problems.push(access.problem);
          continue;
        }
        const sourceId = `${set.metadata.name} ${reference.kind} ${reference.name}`;
        known.add(sourceId);
        const outcome = await keep(context, key, access.client, sourceId, one);
        if (outcome.wait !== undefined) results.push(outcome.wait);
        if (outcome.record) resources.push(outcome.record);
        for (const message of outcome.failures) problems.push({ reason: 'ApplyFailed', message });
        if (outcome.failures.length > 0) failed = true;
      }
      records.push({ set, resources });
    }
    drift.keepOnly(key, known);
    await writeBinding(context, cluster, binding, records);
    outcomes.put(key, bySet);
    if (failed) {
      const count = [...bySet.values()].flat().length;
      throw new CapstanError('CAP_ADDON_OBJECTS', `${count} objects of ClusterResourceSets cannot be applied`);
    }
    if (drift.isPartial(key)) results.push(afterPatiently(lookMs, 'not all applied objects are watched'));
    return soonest(...results);
  }

  /**
   * Returns a client for the cluster, or the reason why there is none; `workloads` enqueues the cluster once it is
   * reachable.
   */
  function accessTo(cluster: Cluster): { client: Client } | { problem: ClusterProblem } {
    if (cluster.spec.paused === true) {
      return { problem: { reason: 'RemoteClusterClientFailed', message: 'the Cluster is paused' } };
    }
    try {
      return { client: workloads.client(objectKey(cluster)) };
    } catch (error) {
      if (!isNotConnected(error)) throw error;
      return { problem: { reason: 'RemoteClusterClientFailed', message: explain(error) } };
    }
  }

  async function keep(
    context: ReconcileContext,
    cluster: ObjectKey,
    client: Client,
    sourceId: string,
    part: Part,
  ): Promise<{ record?: ResourceBinding; failures: readonly string[]; wait?: Result }> {
    const { reference, payload, before, set } = part;
    const target: PayloadTarget = {
      client,
      kinds: kindsOf(client),
      signal: context.signal,
      isSecret: reference.kind === 'Secret',
    };
    const reconciles = set.spec.strategy === 'Reconcile';
    const isCurrent = isDone(part);
    if (isCurrent && before && (!reconciles || drift.isSettled(cluster, client, sourceId))) {
      if (!reconciles || !drift.isPartial(cluster)) return { record: before, failures: [] };
    }
    const now = context.clock.now();
    const isRepair = isCurrent && drift.isFollowed(cluster, client, sourceId);
    if (isRepair && before) {
      const waitMs = repairs.waitFor(cluster, sourceId, now);
      if (waitMs > 0) {
        return {
          record: before,
          failures: [],
          wait: after(waitMs, 'objects keep being changed in the workload cluster'),
        };
      }
    }
    const { applied, failures } = reconciles
      ? await applyPayload(target, payload, { look: isCurrent })
      : await createPayload(target, payload);
    if (isRepair && !drift.isSettled(cluster, client, sourceId)) repairs.note(cluster, sourceId, now);
    if (reconciles) drift.follow(cluster, client, sourceId, applied);
    const isApplied = failures.length === 0;
    if (isApplied && isCurrent && before) return { record: before, failures };
    // keep the old time while the same payload keeps failing; otherwise every retry would change the status
    const since =
      before && before.hash === payload.hash && before.applied === isApplied ? before.lastAppliedTime : undefined;
    const record: ResourceBinding = {
      kind: reference.kind,
      name: reference.name,
      hash: payload.hash,
      applied: isApplied,
      lastAppliedTime: since ?? formatTime(now),
    };
    return { record, failures };
  }
}

/** One Secret or ConfigMap of a set, with the earlier result from the binding. */
interface Part {
  readonly set: ClusterResourceSet;
  readonly reference: ClusterResource;
  readonly payload: Payload;
  readonly before: ResourceBinding | undefined;
}

/** Tells whether nothing is left to apply: the current hash is applied, or, with strategy ApplyOnce, any was. */
function isDone({ set, payload, before }: Part): boolean {
  if (before?.applied !== true) return false;
  return set.spec.strategy !== 'Reconcile' || before.hash === payload.hash;
}
