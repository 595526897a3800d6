import { type ConnectWorkload, connectOverHttp } from '../controllers/index.ts';
import type { PodHost } from '../podhost/index.ts';
import { connectThrough, targetOf } from '../simkube/index.ts';

/**
 * Ways to workload APIs from a process that runs control planes itself: to those by the network of their Pods, which needs
 * no sockets, no ports below 1024 and no DNS; to all others over HTTPS.
 */
export function connectBeside(pods: PodHost): ConnectWorkload {
  const overHttp = connectOverHttp();
  const inProcess = connectThrough((host, port) => pods.network.dial(host, port));
  return async (kubeconfig, cluster) =>
    pods.knows(targetOf(kubeconfig).address) ? inProcess(kubeconfig) : overHttp(kubeconfig, cluster);
}
