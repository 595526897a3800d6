import { connectThrough, type InProcessApi } from '../../simkube/index.ts';
import type { SimulatedNetwork } from './types.ts';

/**
 * Opens workload APIs on simulated machines without a socket, from the text of a kubeconfig: through floating address, load
 * balancer and security groups, as they are at the moment of each call.
 */
export function connectInProcess(network: SimulatedNetwork): (kubeconfig: string) => Promise<InProcessApi> {
  return connectThrough((address, port) => network.dial(address, port));
}
