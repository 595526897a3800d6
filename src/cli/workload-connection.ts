import { type ConnectWorkload, connectOverHttp } from '../controllers/index.ts';
import type { PeerPolicy } from '../machinery/index.ts';
import type { PodHost } from '../podhost/index.ts';
import { connectThrough, targetOf } from '../simkube/index.ts';

type WorkloadApi = Awaited<ReturnType<ConnectWorkload>>;

/**
 * Connects to workload APIs from a process that runs control planes itself. Local ones are reached by their Pod
 * network, without sockets, privileged ports or DNS; all others over HTTPS.
 */
export function connectBeside(pods: Pick<PodHost, 'knows' | 'network'>, peers: PeerPolicy): ConnectWorkload {
  const overHttp = connectOverHttp({ peers });
  const inProcess = connectThrough((host, port) => pods.network.dial(host, port));
  return async (kubeconfig, cluster) => {
    const { address } = targetOf(kubeconfig);
    if (pods.knows(address)) return await inProcess(kubeconfig);
    const outside = await overHttp(kubeconfig, cluster);
    return switching(outside, async () => (pods.knows(address) ? await inProcess(kubeconfig) : undefined));
  };
}

/** A host may become local later, because its Ingress or Gateway is created after the kubeconfig. */
function switching(first: WorkloadApi, better: () => Promise<WorkloadApi | undefined>): WorkloadApi {
  let current = first;
  return {
    get client() {
      return current.client;
    },
    async probe(signal) {
      const next = current === first ? await better() : undefined;
      if (next) {
        current = next;
        void Promise.resolve(first.close()).catch(() => {});
      }
      await current.probe(signal);
    },
    portForward: (pod, port, signal) => current.portForward(pod, port, signal),
    close: () => current.close(),
  };
}
