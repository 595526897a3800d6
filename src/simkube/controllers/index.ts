import { type ApiServer, loopbackUser } from '../../apiserver/index.ts';
import {
  bootstrapTokenCleaner,
  certificateApprovalController,
  certificateCleaner,
  certificateSigningController,
  claimProtection,
  clusterInfoSigner,
  rootCaPublisher,
  serviceAccountController,
  volumeProtection,
  type WorkloadPart,
  workloadControllers,
} from '../../housekeeping/index.ts';
import { errorMessage } from '../../machinery/index.ts';
import { type ControllerDefinition, createManager, nullLogger } from '../../runtime/index.ts';
import type { ControllerManagerSettings } from '../cluster/settings.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';
import { startCollector } from './collector.ts';
import { nodeLifecycleController } from './node-lifecycle.ts';
import { startOnDemand } from './on-demand.ts';
import { schedulerController } from './scheduler.ts';
import { unreadMetrics } from './unread-metrics.ts';

/** kube-controller-manager and kube-scheduler of one cluster. */
export interface ClusterControllers {
  stop(): Promise<void>;
}

/** Controllers to run: those of the leading controller manager, and the scheduler. */
export interface ControllerSelection {
  readonly manager?: ControllerManagerSettings;
  readonly scheduler: boolean;
}

export function startClusterControllers(
  cluster: WorkloadCluster,
  server: ApiServer,
  desired: ControllerSelection,
): ClusterControllers {
  const { clock, random } = cluster;
  const client = server.localClient(loopbackUser, isReadWhole);
  const metrics = unreadMetrics();
  const manager = createManager({ client, clock, random, log: nullLogger, metrics });
  const controllers = [
    ...(desired.manager ? managerControllers(cluster, server, desired.manager) : []),
    ...(desired.scheduler ? [schedulerController({ announces: true })] : []),
  ];
  for (const controller of controllers) manager.add(controller);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  running.catch((error: unknown) =>
    cluster.log.error('Controllers of a workload cluster failed', { cluster: cluster.id, error: errorMessage(error) }),
  );
  const collector = desired.manager && startCollector(cluster, server, metrics);
  const rare = desired.manager && startOnDemand(cluster, server, metrics);
  return {
    async stop() {
      stop.abort();
      await Promise.all([running, collector?.stop(), rare?.stop()]);
    },
  };
}

function managerControllers(
  cluster: WorkloadCluster,
  server: ApiServer,
  { signingAuthority, rootAuthorities }: ControllerManagerSettings,
): ControllerDefinition[] {
  return [
    serviceAccountController(),
    ...(rootAuthorities === undefined ? [] : [rootCaPublisher({ certificateAuthority: rootAuthorities })]),
    claimProtection({ reader: server.localClient() }),
    volumeProtection(),
    bootstrapTokenCleaner(),
    clusterInfoSigner(),
    certificateApprovalController(),
    certificateCleaner(),
    ...(signingAuthority ? [certificateSigningController({ authority: signingAuthority })] : []),
    nodeLifecycleController(cluster),
    ...workloadControllers({ parts: workloadParts, events: false }),
  ];
}

/** Controllers that create Pods in cloud clusters. Nobody reads their events. */
const workloadParts: readonly WorkloadPart[] = ['deployments', 'statefulSets', 'daemonSets', 'podGarbage'];

const wholeCoreKinds: ReadonlySet<string> = new Set(['namespaces', 'nodes', 'pods']);

/** Reports whether controllers need whole objects of a kind; otherwise metadata is cached only. */
function isReadWhole({ group, plural }: { group: string; plural: string }, name: string): boolean {
  if (group === 'apps' || group === 'certificates.k8s.io') return true;
  if (group !== '') return false;
  if (plural === 'configmaps') return name === 'kube-root-ca.crt' || name === 'cluster-info';
  return wholeCoreKinds.has(plural) || (plural === 'secrets' && name.startsWith('bootstrap-token-'));
}
