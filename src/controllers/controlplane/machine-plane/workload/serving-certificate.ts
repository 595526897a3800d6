import type { ObjectKey } from '../../../../client/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import { parseCertificate } from '../../../../pki/index.ts';
import type { WorkloadClusters } from '../../../shared/index.ts';
import { secureStream } from '../../etcd-client/secure-stream.ts';

/**
 * Reads the expiry of the API server certificate on a node, in milliseconds. Undefined if the certificate is not one
 * that kubeadm or rke2 issues.
 */
export type ReadServingCertificate = (
  target: { cluster: ObjectKey; node: string; port: number },
  signal: AbortSignal,
) => Promise<number | undefined>;

const timeoutMs = 5_000;
/** Common name of API server certificates issued by kubeadm and rke2. */
const commonName = 'kube-apiserver';

export function servingCertificateReader(options: {
  workloads: Pick<WorkloadClusters, 'portForward'>;
  clock: Clock;
}): ReadServingCertificate {
  return async ({ cluster, node, port }, signal) => {
    const pod = { namespace: 'kube-system', name: `kube-apiserver-${node}` };
    const stream = await options.workloads.portForward(cluster, pod, port, signal);
    // no data is sent: only the presented certificate is read, so the server need not be trusted
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
