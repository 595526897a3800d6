import {
  type ClusterResourceSet,
  ClusterResourceSetBindings,
  ClusterResourceSets,
  Clusters,
  ConfigMaps,
  Secrets,
} from '../../api/index.ts';
import { type ObjectKey, objectKey } from '../../client/index.ts';
import { clone, ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import {
  anyOf,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  labelsChanged,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import {
  clusterChanged,
  conditionOf,
  isDeleting,
  isFilteredOut,
  type LegacyVerdict,
  legacyFalse,
  legacyTrue,
  ownerReference,
  pausedBy,
  pausedVerdict,
  setLegacy,
  setVerdict,
  type Verdict,
  watchFilter,
  withFinalizer,
  withOwner,
  withoutFinalizer,
  writeObject,
} from '../shared/index.ts';
import { bounded } from './apply-failure.ts';
import { outcomeOf, releaseBinding } from './binding.ts';
import { type ResourceSetDependencies, resourceSetFinalizer } from './dependencies.ts';
import { clustersOf, selects } from './matching.ts';
import type { Source } from './sources.ts';

const defaultConcurrency = 10;
/** Problems listed in a condition; the rest is only counted. */
const maxNamed = 5;
const maxMessageLength = 4000;

/** Reconciles ClusterResourceSets: finalizer, owner references of their resources, condition. */
export function resourceSetController(dependencies: ResourceSetDependencies): ControllerDefinition {
  const { cache, outcomes, sources } = dependencies;
  const setsNaming = (object: KubeObject): ObjectKey[] =>
    cache
      .lister(ClusterResourceSets)
      .list({
        namespace: object.metadata.namespace ?? '',
        filter: ({ spec }) =>
          spec.resources.some(({ kind, name }) => kind === object.kind && name === object.metadata.name),
      })
      .map(objectKey);

  return defineController({
    name: 'clusterresourceset',
    for: ClusterResourceSets,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    watches: [
      watchObjects(ClusterResourceSets, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(
        Clusters,
        (cluster) =>
          cache
            .lister(ClusterResourceSets)
            .list({ namespace: cluster.metadata.namespace ?? '', filter: (set) => selects(set, cluster) })
            .map(objectKey),
        { predicates: [anyOf(clusterChanged('deletion'), labelsChanged)] },
      ),
      watchMapped(Secrets, setsNaming),
      watchMapped(ConfigMaps, setsNaming),
      watchMapped(
        ClusterResourceSetBindings,
        ({ metadata, spec }) =>
          (spec.bindings ?? []).map(({ clusterResourceSetName }) => ({
            ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
            name: clusterResourceSetName,
          })),
        { predicates: [changedBesidesStatus] },
      ),
    ],
    sources: [outcomes.source],
    async reconcile(context, key) {
      const found = context.cache.lister(ClusterResourceSets).get(key);
      if (!found || isFilteredOut(found, dependencies.watchFilter)) return done();
      const pauses = pausedBy(found, undefined);
      if (isDeleting(found)) {
        if (pauses.length === 0) await release(context, found);
        return done();
      }
      const set =
        pauses.length === 0 ? await withFinalizer(context, ClusterResourceSets, found, resourceSetFinalizer) : found;
      const draft = clone(set);
      const now = context.clock.now();
      setVerdict(draft, 'Paused', pausedVerdict(pauses), now);
      if (pauses.length === 0) {
        const named = set.spec.resources.map((reference) =>
          sources(context.cache, set.metadata.namespace ?? '', reference),
        );
        for (const source of named) await own(context, set, source);
        const summary = summarize(set, named);
        if (summary) {
          setVerdict(draft, 'ResourcesApplied', summary.verdict, now);
          setLegacy(draft, 'ResourcesApplied', summary.legacy, now);
        }
      }
      await writeObject(context, ClusterResourceSets, set, draft, { observed: pauses.length === 0 });
      return done();
    },
  });

  /**
   * Summarizes the outcomes of all clusters; undefined while some clusters have no outcome, so the old condition stays.
   */
  function summarize(
    set: ClusterResourceSet,
    named: readonly Source[],
  ): { verdict: Verdict; legacy: LegacyVerdict } | undefined {
    const problems: { reason: string; message: string }[] = [];
    for (const source of named) {
      if ('problem' in source) problems.push({ reason: source.reason, message: source.problem });
    }
    const clusters = clustersOf(cache, set);
    let isUnknown = false;
    for (const cluster of clusters) {
      const key = objectKey(cluster);
      const found = dependencies.isElsewhere(key)
        ? outcomeOf(cache.lister(ClusterResourceSetBindings).get(key), set)
        : outcomes.of(key, set.metadata.name ?? '');
      if (found === undefined) isUnknown = true;
      for (const { reason, message } of found ?? []) {
        problems.push({ reason, message: `Cluster ${cluster.metadata.name}: ${message}` });
      }
    }
    const [first] = problems;
    if (first) {
      const reason = problems.some((problem) => problem.reason === 'WrongSecretType') ? 'WrongSecretType' : undefined;
      const message = messageOf(problems.map((problem) => problem.message));
      const verdict: Verdict = { status: 'False', reason: reason ?? 'NotApplied', message };
      return { verdict, legacy: legacyFalse(reason ?? first.reason, 'Warning', message) };
    }
    if (isUnknown) {
      if (conditionOf(set, 'ResourcesApplied')) return undefined;
      const message = 'The clusters have not got the objects yet';
      return {
        verdict: { status: 'False', reason: 'NotApplied', message },
        legacy: legacyFalse('ApplyFailed', 'Info', message),
      };
    }
    const message = clusters.length === 0 ? 'No Cluster has the labels of spec.clusterSelector' : '';
    return { verdict: { status: 'True', reason: 'Applied', message }, legacy: legacyTrue };
  }
}

function messageOf(all: readonly string[]): string {
  const distinct = [...new Set(all)];
  const rest = distinct.length - maxNamed;
  const lines = distinct.slice(0, maxNamed).map((line) => (distinct.length === 1 ? line : `* ${line}`));
  if (rest > 0) lines.push(`And ${rest} more`);
  return bounded(lines.join('\n'), maxMessageLength);
}

/**
 * Makes the set an owner of its Secrets and ConfigMaps, so that they are moved with it by `clusterctl move` and deleted
 * with it.
 */
async function own(context: ReconcileContext, set: ClusterResourceSet, source: Source): Promise<void> {
  if (!source.object || ('reason' in source && source.reason === 'WrongSecretType') || isDeleting(source.object))
    return;
  const { object } = source;
  const owners = withOwner(object.metadata.ownerReferences, ownerReference(set, ClusterResourceSets));
  if (owners === object.metadata.ownerReferences) return;
  const resource: Resource<KubeObject> = object.kind === 'Secret' ? Secrets : ConfigMaps;
  const after: KubeObject = { ...object, metadata: { ...object.metadata, ownerReferences: [...owners] } };
  await writeObject(context, resource, object, after, { observed: false }).catch(ignoreNotFound);
}

/** Removes the set from its bindings. Objects already applied to clusters stay. */
async function release(context: ReconcileContext, set: ClusterResourceSet): Promise<void> {
  if (set.metadata.finalizers?.includes(resourceSetFinalizer) !== true) return;
  const namespace = set.metadata.namespace ?? '';
  for (const binding of context.cache.lister(ClusterResourceSetBindings).list({ namespace })) {
    await releaseBinding(context, set, binding);
  }
  const finalizers = withoutFinalizer(set.metadata.finalizers, resourceSetFinalizer);
  const after = { ...set, metadata: { ...set.metadata, finalizers } };
  await writeObject(context, ClusterResourceSets, set, after, { observed: false }).catch(ignoreNotFound);
}
