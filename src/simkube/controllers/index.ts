import { loopbackUser } from '../../apiserver/index.ts';
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
} from '../../housekeeping/index.ts';
import { errorMessage } from '../../machinery/index.ts';
import { createManager, createMetrics, nullLogger, type RuntimeMetrics } from '../../runtime/index.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';
import { cloudControllers } from './cloud-controller.ts';
import { startCollector } from './collector.ts';
import { daemonSetController } from './daemon-sets.ts';
import { deploymentController } from './deployments.ts';
import { nodeLifecycleController } from './node-lifecycle.ts';
import { podGarbageController } from './pod-garbage.ts';
import { replicaSetController } from './replica-sets.ts';
import { schedulerController } from './scheduler.ts';
import { statefulSetController } from './stateful-sets.ts';

/** kube-controller-manager, kube-scheduler and, where it is deployed, the cloud controller manager of one cluster. */
export interface ClusterControllers {
  stop(): Promise<void>;
}

/** Nobody reads the metrics of thousands of simulated controller managers; they share one set. */
let metrics: RuntimeMetrics | undefined;

export function startClusterControllers(cluster: WorkloadCluster): ClusterControllers {
  const { server, clock, random, settings } = cluster;
  const client = server.localClient(loopbackUser, isReadWhole);
  metrics ??= createMetrics();
  const manager = createManager({ client, clock, random, log: nullLogger, metrics });
  const { authority } = settings;
  const controllers = [
    serviceAccountController(),
    rootCaPublisher({ certificateAuthority: authority.certificate }),
    claimProtection({ reader: cluster.loopback }),
    volumeProtection(),
    bootstrapTokenCleaner(),
    clusterInfoSigner(),
    certificateApprovalController(),
    certificateCleaner(),
    certificateSigningController({ authority }),
    nodeLifecycleController(cluster),
    podGarbageController(),
    schedulerController(),
    daemonSetController(),
    deploymentController(),
    replicaSetController(),
    statefulSetController(),
    ...cloudControllers(cluster.cloud),
  ];
  for (const controller of controllers) manager.add(controller);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  running.catch((error: unknown) =>
    cluster.log.error('Controllers of a workload cluster failed', { cluster: cluster.id, error: errorMessage(error) }),
  );
  const collector = startCollector(cluster, metrics);
  return {
    async stop() {
      stop.abort();
      await Promise.all([running, collector.stop()]);
    },
  };
}

const wholeCoreKinds: ReadonlySet<string> = new Set(['namespaces', 'nodes', 'pods']);

/** What controllers look into; of everything else they follow the identities only. */
function isReadWhole({ group, plural }: { group: string; plural: string }, name: string): boolean {
  if (group === 'apps' || group === 'certificates.k8s.io') return true;
  if (group !== '') return false;
  if (plural === 'configmaps') return name === 'kube-root-ca.crt' || name === 'cluster-info';
  return wholeCoreKinds.has(plural) || (plural === 'secrets' && name.startsWith('bootstrap-token-'));
}
