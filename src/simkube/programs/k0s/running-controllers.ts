import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { PortService } from '../../types.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import type { K0sConfig } from './config.ts';
import type { K0sPki } from './pki.ts';

/** A controller that runs, as commands beside it see it. */
export interface RunningController {
  readonly config: K0sConfig;
  readonly pki: K0sPki;
  readonly cluster: WorkloadCluster;
  readonly version: string;
}

const statusSocket = '/run/k0s/status.sock';
const running = new WeakMap<PortService, RunningController>();

/** Has commands in the same container find the controller; answers how to end that. */
export function announceController(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  controller: RunningController,
): () => void {
  const service = localOnly();
  running.set(service, controller);
  return kubernetes.listenLocally(process, statusSocket, service);
}

/** undefined: none runs in this Pod */
export function controllerBeside(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
): RunningController | undefined {
  const service = kubernetes.dialLocally(process, statusSocket);
  return service && running.get(service);
}
