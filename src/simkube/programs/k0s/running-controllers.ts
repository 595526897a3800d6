import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { PortService } from '../../types.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import type { K0sConfig } from './config.ts';
import type { K0sPki } from './pki.ts';

/** A running controller from the view of commands beside it. */
export interface RunningController {
  readonly config: K0sConfig;
  readonly pki: K0sPki;
  readonly cluster: WorkloadCluster;
  readonly version: string;
}

const statusSocket = '/run/k0s/status.sock';
const running = new WeakMap<PortService, RunningController>();

/** Registers the controller for commands in the same container. Returns a function that removes it. */
export function announceController(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  controller: RunningController,
): () => void {
  const service = localOnly();
  running.set(service, controller);
  return kubernetes.listenLocally(process, statusSocket, service);
}

/** Returns undefined if no controller runs in this Pod. */
export function controllerBeside(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
): RunningController | undefined {
  const service = kubernetes.dialLocally(process, statusSocket);
  return service && running.get(service);
}
