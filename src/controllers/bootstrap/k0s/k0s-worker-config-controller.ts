import { clusterNameLabel, clusters, type K0sWorkerConfig, k0sWorkerConfigs, machines } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, isConflict } from '../../../machinery/index.ts';
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
  explain,
  isDeleting,
  isFilteredOut,
  isNotConnected,
  pausedBy,
  pausedVerdict,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { configOwnerOf } from '../common/owner.ts';
import {
  clusterMatters,
  configOfMachine,
  configsOfCluster,
  machineMatters,
  registerConfigIndex,
} from '../common/watches.ts';
import { keepReady } from './keep-ready.ts';
import { makeUserData } from './make-user-data.ts';
import type { K0sWorkerConfigDependencies, K0sWorkerConfigScope } from './scope.ts';
import { dataSecretFailed, dataSecretRefused, dataSecretWaiting, observe } from './status.ts';

const defaultConcurrency = 10;
const defaultTokenTtlMs = 24 * 3_600_000;
const healRetryMs = 30_000;
const certificateRetryMs = 10_000;

/** K0sWorkerConfigs: the user data with which machines join a cluster as workers of k0s. */
export function k0sWorkerConfigController(dependencies: K0sWorkerConfigDependencies): ControllerDefinition {
  const ofCluster = (cluster: ObjectKey): K0sWorkerConfig[] =>
    configsOfCluster(dependencies.cache, k0sWorkerConfigs, cluster);
  /** those whose user data is still to be made */
  const waitingFor = (cluster: ObjectKey): ObjectKey[] =>
    ofCluster(cluster)
      .filter(({ status }) => status?.initialization?.dataSecretCreated !== true)
      .map(objectKey);
  const follower = dependencies.externals.follow(({ metadata }) => {
    const name = metadata.labels?.[clusterNameLabel];
    return name === undefined ? [] : waitingFor({ namespace: metadata.namespace ?? '', name });
  });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const config = context.cache.lister(k0sWorkerConfigs).get(key);
    if (!config || isFilteredOut(config, dependencies.watchFilter)) return done();
    const owner = await configOwnerOf(context, config);
    const cluster =
      owner &&
      context.cache.lister(clusters).get({ namespace: config.metadata.namespace ?? '', name: owner.clusterName });
    if (!owner || !cluster) return done();
    const draft = clone(config);
    const pauses = pausedBy(config, cluster);
    setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
    if (pauses.length > 0 || isDeleting(config)) {
      await writeObject(context, k0sWorkerConfigs, config, draft, { observed: false });
      return done();
    }
    const scope: K0sWorkerConfigScope = {
      context,
      dependencies,
      follower,
      cluster,
      owner,
      tokenTtlMs: dependencies.tokenTtlMs ?? defaultTokenTtlMs,
      original: config,
      config: draft,
    };
    const { result, error } = await attempt(scope);
    observe(scope);
    tellOfProblem(scope);
    // the kind has no place for the generation
    await writeObject(context, k0sWorkerConfigs, config, draft, { observed: false });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: 'k0s-worker-config',
    for: k0sWorkerConfigs,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup: registerConfigIndex(k0sWorkerConfigs),
    watches: [
      watchObjects(k0sWorkerConfigs, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(machines, (machine) => configOfMachine(machine, k0sWorkerConfigs), {
        predicates: [machineMatters],
      }),
      watchMapped(clusters, (cluster) => ofCluster(objectKey(cluster)).map(objectKey), {
        predicates: [clusterMatters],
      }),
    ],
    sources: [follower.source, dependencies.workloads.connectionSource(waitingFor)],
    reconcile,
  });
}

interface Outcome {
  result: Result;
  /** what nobody foresaw: to be tried again with back-off */
  error?: unknown;
}

/** One pass; what stands in the way is put in the words of conditions. */
async function attempt(scope: K0sWorkerConfigScope): Promise<Outcome> {
  const { config, owner } = scope;
  const created = config.status?.initialization?.dataSecretCreated === true ? config.status.dataSecretName : undefined;
  // the owner knows what it booted with, also when our status was lost in a move or a restore
  const secretName = created || owner.dataSecretName;
  try {
    return { result: secretName ? await keepReady(scope, secretName) : await makeUserData(scope) };
  } catch (error) {
    if (isNotConnected(error)) {
      dataSecretWaiting(scope, `Waiting for the API of the cluster: ${explain(error)}`);
      return { result: done() };
    }
    if (error instanceof ClusterCertificateError) {
      dataSecretWaiting(scope, `Waiting for the certificates of the Cluster: ${error.message}`);
      return { result: after(certificateRetryMs, 'certificates of the cluster') };
    }
    if (error instanceof BootstrapInputError) {
      dataSecretRefused(scope, error.message);
      return { result: error.mayHeal ? after(healRetryMs, 'something the configuration refers to') : done() };
    }
    // data that exists stays available, whatever else went wrong; a lost race is not news
    if (!scope.dataSecret && !isConflict(error)) dataSecretFailed(scope, explain(error));
    return { result: done(), error };
  }
}

/** Trouble the user can end is worth an event, once. */
function tellOfProblem({ context, original, dataSecret }: K0sWorkerConfigScope): void {
  if (dataSecret?.reason !== 'DataSecretGenerationFailed') return;
  const message = dataSecret.message ?? '';
  if (conditionOf(original, 'DataSecretAvailable')?.message === message) return;
  context.events.event(original, 'Warning', dataSecret.reason, message);
}
