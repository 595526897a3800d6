import { Clusters, clusterNameLabel, Machines, Secrets } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { isConflict, type Resource } from '../../../machinery/index.ts';
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
  ClusterCertificateError,
  conditionOf,
  draftOf,
  explain,
  isDeleting,
  isFilteredOut,
  isNotConnected,
  pausedBy,
  pausedVerdict,
  setVerdict,
  UnsupportedKubernetesVersionError,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import type { BootstrapConfig, ConfigDependencies, ConfigScope } from './config-scope.ts';
import { BootstrapInputError } from './machine-content.ts';
import { configOwnerOf } from './owner.ts';
import {
  clusterOfMachine,
  configOfMachine,
  configsOfCluster,
  machineChanged,
  registerConfigIndex,
  relevantClusterChange,
} from './watches.ts';

const defaultConcurrency = 25;
const healRetryMs = 30_000;
const certificateRetryMs = 10_000;

/** What differs between the kinds of bootstrap configurations. */
export interface ConfigKind<T extends BootstrapConfig, D extends ConfigDependencies, Finding> {
  /** controller name */
  readonly name: string;
  readonly resource: Resource<T>;
  readonly tokenTtlMs: number;
  /** whether the status has observedGeneration */
  readonly reportsGeneration: boolean;
  /** whether the deletion of a machine may unblock other machines of its cluster */
  readonly waitsForOthers: boolean;
  /** whether changes of referenced objects enqueue configurations without user data */
  readonly wakesOnFollowed: boolean;
  /** creates user data, or maintains existing user data */
  advance(scope: ConfigScope<T, D, Finding>): Promise<Result>;
  /** set the finding for each kind of failure */
  notConnected(scope: ConfigScope<T, D, Finding>, message: string): void;
  certificatesMissing(scope: ConfigScope<T, D, Finding>, error: ClusterCertificateError): void;
  refused(scope: ConfigScope<T, D, Finding>, message: string): void;
  failed(scope: ConfigScope<T, D, Finding>, message: string): void;
  /** writes the findings of a reconcile to the draft */
  observe(scope: ConfigScope<T, D, Finding>): void;
  /** a fault the user can correct */
  problemOf(finding: Finding): string | undefined;
}

/** Builds the controller of one kind of bootstrap configuration, which generates the user data of machines. */
export function configController<T extends BootstrapConfig, D extends ConfigDependencies, Finding>(
  dependencies: D,
  kind: ConfigKind<T, D, Finding>,
): ControllerDefinition {
  const { resource } = kind;
  const keysIn = (cluster: ObjectKey): ObjectKey[] =>
    configsOfCluster(dependencies.cache, resource, cluster).map(objectKey);
  /** configurations that still lack user data */
  const waitingIn = (cluster: ObjectKey): ObjectKey[] =>
    configsOfCluster(dependencies.cache, resource, cluster)
      .filter(({ status }) => status?.initialization?.dataSecretCreated !== true)
      .map(objectKey);
  const follower = dependencies.externals.follow(({ metadata }) => {
    const name = metadata.labels?.[clusterNameLabel];
    if (!kind.wakesOnFollowed || name === undefined) return [];
    return waitingIn({ namespace: metadata.namespace ?? '', name });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const config = context.cache.lister(resource).get(key);
    if (!config || isFilteredOut(config, dependencies.watchFilter)) return done();
    const owner = await configOwnerOf(context, config);
    const cluster =
      owner &&
      context.cache.lister(Clusters).get({ namespace: config.metadata.namespace ?? '', name: owner.clusterName });
    if (!owner || !cluster) return done();
    const draft = draftOf(config);
    const pauses = pausedBy(config, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    if (pauses.length > 0 || isDeleting(config)) {
      await writeObject(context, resource, config, draft, { observed: false });
      return done();
    }
    const scope: ConfigScope<T, D, Finding> = {
      context,
      dependencies,
      follower,
      cluster,
      owner,
      tokenTtlMs: dependencies.tokenTtlMs ?? kind.tokenTtlMs,
      original: config,
      config: draft,
    };
    const { result, error } = await attempt(kind, scope);
    kind.observe(scope);
    reportProblem(kind, scope);
    const observed = kind.reportsGeneration && error === undefined;
    await writeObject(context, resource, scope.original, scope.config, { observed });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: kind.name,
    for: resource,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      registerConfigIndex(resource)(informers);
      informers.informer(Secrets);
    },
    watches: [
      watchObjects(resource, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(
        Machines,
        (machine, { type }) =>
          type === 'delete' && kind.waitsForOthers
            ? keysIn(clusterOfMachine(machine))
            : configOfMachine(machine, resource),
        { predicates: [machineChanged] },
      ),
      watchMapped(Clusters, (cluster) => keysIn(objectKey(cluster)), { predicates: [relevantClusterChange] }),
    ],
    sources: [follower.source, dependencies.workloads.connectionSource(waitingIn)],
    reconcile,
  });
}

interface Outcome {
  result: Result;
  /** unexpected error, retried with back-off */
  error?: unknown;
}

/** Runs one reconcile and turns known failures into findings. */
async function attempt<T extends BootstrapConfig, D extends ConfigDependencies, Finding>(
  kind: ConfigKind<T, D, Finding>,
  scope: ConfigScope<T, D, Finding>,
): Promise<Outcome> {
  try {
    return { result: await kind.advance(scope) };
  } catch (error) {
    if (isNotConnected(error)) {
      kind.notConnected(scope, `Waiting for the API of the cluster: ${explain(error)}`);
      return { result: done() };
    }
    if (error instanceof ClusterCertificateError) {
      kind.certificatesMissing(scope, error);
      return { result: after(certificateRetryMs, 'certificates of the cluster') };
    }
    if (error instanceof BootstrapInputError || error instanceof UnsupportedKubernetesVersionError) {
      kind.refused(scope, error.message);
      const mayHeal = error instanceof BootstrapInputError && error.mayHeal;
      return { result: mayHeal ? after(healRetryMs, 'something the configuration refers to') : done() };
    }
    // existing user data stays available despite other errors; a conflict is not reported
    if (!scope.dataSecret && !isConflict(error)) kind.failed(scope, explain(error));
    return { result: done(), error };
  }
}

/** Emits one event for a fault the user can correct. */
function reportProblem<T extends BootstrapConfig, D extends ConfigDependencies, Finding>(
  kind: ConfigKind<T, D, Finding>,
  { context, original, dataSecret }: ConfigScope<T, D, Finding>,
): void {
  const message = dataSecret && kind.problemOf(dataSecret);
  if (message === undefined || conditionOf(original, 'DataSecretAvailable')?.message === message) return;
  context.events.event(original, 'Warning', 'DataSecretGenerationFailed', message);
}
