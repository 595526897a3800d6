import { Leases } from '../../../api/index.ts';
import { errorMessage, isAlreadyExists, isNotFound } from '../../../machinery/index.ts';
import type { ControllerRoles } from '../../cluster/settings.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { SimulatedProcess } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { klog } from '../klog.ts';
import type { Closing } from '../running.ts';
import { kubeconfigWay, type ReachedApi } from './api-client.ts';

export interface ComponentSettings {
  readonly name: 'kube-controller-manager' | 'kube-scheduler';
  readonly kubeconfig: string;
  readonly roles: ControllerRoles;
}

const retryMs = 1_000;
const checkMs = 10_000;
/** consecutive failed checks before the lease is lost */
const patience = 2;

/**
 * Works for the cluster of its kubeconfig, from the moment the API accepts it until the API becomes unreachable.
 * Resolves with the exit code. The cluster chooses the leader among all candidates.
 */
export async function workForCluster(
  process: SimulatedProcess,
  closing: Closing,
  settings: ComponentSettings,
): Promise<number> {
  const { name } = settings;
  const reach = kubeconfigWay(process, settings.kubeconfig);
  const reached = await enter(process, reach, name);
  let { cluster } = reached;
  const id = `${process.namespace}/${process.hostname}/${name}`;
  cluster.addControllers(id, settings.roles);
  closing.add(() => cluster.removeControllers(id));
  klog(process, 'I', 'leaderelection.go:271', `successfully acquired lease kube-system/${name}`);
  for (let misses = 0; misses < patience; ) {
    await process.pass(checkMs);
    const found = look(reach);
    if (!found) {
      misses++;
      continue;
    }
    misses = 0;
    if (found === cluster) continue;
    // The endpoint now leads to another cluster, because the data was restored into a new one.
    cluster.removeControllers(id);
    cluster = found;
    cluster.addControllers(id, settings.roles);
  }
  klog(
    process,
    'E',
    'leaderelection.go:448',
    `error retrieving resource lock kube-system/${name}: context deadline exceeded`,
  );
  klog(process, 'F', 'controllermanager.go:340', 'leaderelection lost');
  return 1;
}

function look(reach: () => ReachedApi): WorkloadCluster | undefined {
  try {
    return reach().cluster;
  } catch {
    return undefined;
  }
}

/** Waits until the API answers and grants the lease. */
async function enter(process: SimulatedProcess, reach: () => ReachedApi, name: string): Promise<ReachedApi> {
  let said = '';
  for (;;) {
    try {
      const reached = reach();
      await takeLease(process, reached, name);
      return reached;
    } catch (error) {
      if (process.signal.aborted || error instanceof ProgramFailure) throw error;
      const reason = errorMessage(error);
      if (reason !== said) {
        klog(process, 'E', 'leaderelection.go:448', `error retrieving resource lock kube-system/${name}: ${reason}`);
      }
      said = reason;
    }
    await process.pass(retryMs);
  }
}

/** Verifies that the API authorizes the program to write its lease. The lease is written once and not renewed. */
async function takeLease(process: SimulatedProcess, { client }: ReachedApi, name: string): Promise<void> {
  const key = { namespace: 'kube-system', name };
  try {
    await client.get(Leases, key);
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await client.create(
      Leases,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: key,
        spec: { holderIdentity: process.hostname, leaseDurationSeconds: 15, leaseTransitions: 0 },
      },
      { fieldManager: name },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
