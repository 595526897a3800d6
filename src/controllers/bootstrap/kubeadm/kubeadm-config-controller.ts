import { clusters, type KubeadmConfig, kubeadmConfigs, machines } from '../../../api/index.ts';
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
  UnsupportedKubernetesVersionError,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { configOwnerOf } from '../common/owner.ts';
import {
  clusterMatters,
  clusterOfMachine,
  configOfMachine,
  configsOfCluster,
  machineMatters,
  registerConfigIndex,
} from '../common/watches.ts';
import { defaultTokenTtlMs } from './bootstrap-token.ts';
import { keepReady } from './keep-ready.ts';
import { makeUserData } from './make-user-data.ts';
import type { KubeadmConfigDependencies, KubeadmConfigScope } from './scope.ts';
import { certificatesMissing, dataSecretAvailable, dataSecretRefused, dataSecretWaiting, observe } from './status.ts';

const defaultConcurrency = 10;
const healRetryMs = 30_000;
const certificateRetryMs = 10_000;

/** KubeadmConfigs: the user data with which machines make a cluster or join one. */
export function kubeadmConfigController(dependencies: KubeadmConfigDependencies): ControllerDefinition {
  const ofCluster = (cluster: ObjectKey): KubeadmConfig[] =>
    configsOfCluster(dependencies.cache, kubeadmConfigs, cluster);
  const follower = dependencies.externals.follow(() => []);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const config = context.cache.lister(kubeadmConfigs).get(key);
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
      await writeObject(context, kubeadmConfigs, config, draft, { observed: false });
      return done();
    }
    const scope: KubeadmConfigScope = {
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
    await writeObject(context, kubeadmConfigs, scope.original, scope.config, { observed: error === undefined });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: 'kubeadm-config',
    for: kubeadmConfigs,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup: registerConfigIndex(kubeadmConfigs),
    watches: [
      watchObjects(kubeadmConfigs, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(
        machines,
        (machine, { type }) =>
          type === 'delete'
            ? ofCluster(clusterOfMachine(machine)).map(objectKey)
            : configOfMachine(machine, kubeadmConfigs),
        { predicates: [machineMatters] },
      ),
      watchMapped(clusters, (cluster) => ofCluster(objectKey(cluster)).map(objectKey), {
        predicates: [clusterMatters],
      }),
    ],
    sources: [
      follower.source,
      dependencies.workloads.connectionSource((cluster) =>
        ofCluster(cluster)
          .filter(({ status }) => status?.initialization?.dataSecretCreated !== true)
          .map(objectKey),
      ),
    ],
    reconcile,
  });
}

interface Outcome {
  result: Result;
  /** what nobody foresaw: to be tried again with back-off */
  error?: unknown;
}

/** One pass; what stands in the way is put in the words of conditions. */
async function attempt(scope: KubeadmConfigScope): Promise<Outcome> {
  try {
    return { result: await advance(scope) };
  } catch (error) {
    if (isNotConnected(error)) {
      dataSecretWaiting(
        scope,
        `Waiting for the API of the cluster: ${explain(error)}`,
        'WaitingForControlPlaneAvailable',
      );
      return { result: done() };
    }
    if (error instanceof ClusterCertificateError) {
      certificatesMissing(scope, error.message, error.missing);
      dataSecretWaiting(scope, 'Waiting for the certificates of the Cluster', 'WaitingForControlPlaneAvailable');
      return { result: after(certificateRetryMs, 'certificates of the cluster') };
    }
    if (error instanceof BootstrapInputError || error instanceof UnsupportedKubernetesVersionError) {
      dataSecretRefused(scope, error.message);
      const mayHeal = error instanceof BootstrapInputError && error.mayHeal;
      return { result: mayHeal ? after(healRetryMs, 'something the configuration refers to') : done() };
    }
    // data that exists stays available, whatever else went wrong; a lost race is not news
    if (!scope.dataSecret && !isConflict(error)) dataSecretRefused(scope, explain(error));
    return { result: done(), error };
  }
}

async function advance(scope: KubeadmConfigScope): Promise<Result> {
  const { config, cluster, owner } = scope;
  const created = config.status?.initialization?.dataSecretCreated === true ? config.status.dataSecretName : undefined;
  // the owner knows what it booted with, also when our status was lost in a move or a restore
  const secretName = created || owner.dataSecretName;
  if (secretName) {
    const ready = await keepReady(scope, secretName);
    if (ready) return ready;
  }
  if (cluster.status?.initialization?.infrastructureProvisioned !== true) {
    if (secretName) dataSecretAvailable(scope, secretName);
    else {
      const message = 'Waiting for Cluster status.initialization.infrastructureProvisioned to be true';
      dataSecretWaiting(scope, message, 'WaitingForClusterInfrastructure');
    }
    return done();
  }
  return makeUserData(scope);
}

/** Trouble the user can end is worth an event, once. */
function tellOfProblem({ context, original, dataSecret }: KubeadmConfigScope): void {
  if (dataSecret?.legacy.severity !== 'Warning') return;
  const message = dataSecret.verdict.message ?? '';
  if (conditionOf(original, 'DataSecretAvailable')?.message === message) return;
  context.events.event(original, 'Warning', 'DataSecretGenerationFailed', message);
}
