import type { ObjectKey } from '../../../../client/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import { parseCertificate } from '../../../../pki/index.ts';
import type { WorkloadClusters } from '../../../shared/index.ts';
import { secureStream } from '../../etcd-client/secure-stream.ts';

/** When the certificate of the API server in a Pod ends, in milliseconds; undefined when it is not one made with the cluster. */
export type ReadServingCertificate = (
  target: { cluster: ObjectKey; node: string; port: number },
  signal: AbortSignal,
) => Promise<number | undefined>;

const timeoutMs = 5_000;
/** How kubeadm and rke2 name the certificates they make for API servers. */
const commonName = 'kube-apiserver';

export function servingCertificateReader(options: {
  workloads: Pick<WorkloadClusters, 'portForward'>;
  clock: Clock;
}): ReadServingCertificate {
  return async ({ cluster, node, port }, signal) => {
    const pod = { namespace: 'kube-system', name: `kube-apiserver-${node}` };
    const stream = await options.workloads.portForward(cluster, pod, port, signal);
    // nothing is said over this connection: only what the server shows of itself counts
    const socket = await secureStream(
      stream,
      { serverName: 'localhost', trustNobody: true, clock: options.clock, timeoutMs },
      signal,
    );
    try {
      const { raw } = socket.getPeerCertificate();
      const info = parseCertificate(raw);
      return info.subject.commonName === commonName ? info.notAfter : undefined;
    } finally {
      socket.destroy();
      stream.destroy();
    }
  };
}
