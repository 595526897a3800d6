import { connectThrough, type InProcessApi } from '../../simkube/index.ts';
import type { SimulatedNetwork } from './types.ts';

/**
 * Connects to workload APIs on simulated machines without a socket, from a kubeconfig. Each call goes through the
 * current floating IPs, load balancers and security groups.
 */
export function connectInProcess(network: SimulatedNetwork): (kubeconfig: string) => Promise<InProcessApi> {
  return connectThrough((address, port) => network.dial(address, port));
}
