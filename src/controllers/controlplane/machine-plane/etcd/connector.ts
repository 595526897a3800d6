import { Secrets } from '../../../../api/index.ts';
import { type Client, formatKey, type ObjectKey } from '../../../../client/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import { type CertificateAndKey, issueCertificate } from '../../../../pki/index.ts';
import { authorityFromSecret, clusterSecretName, type WorkloadClusters } from '../../../shared/index.ts';
import { etcdClient } from '../../etcd-client/client.ts';
import { openGrpcChannel } from '../../etcd-client/grpc.ts';
import { secureStream } from '../../etcd-client/secure-stream.ts';
import { type EtcdAdministrator, EtcdError, type EtcdTarget } from '../../etcd-client/types.ts';

export interface EtcdConnectorOptions {
  /** client of the management API, which stores the etcd CA */
  client: Client;
  workloads: Pick<WorkloadClusters, 'portForward'>;
  clock: Clock;
  dialTimeoutMs?: number;
  callTimeoutMs?: number;
}

const etcdPort = 2379;
/** kubeadm and rke2 include this name in the certificate of every member. */
const serverName = 'localhost';
const certificateLifeMs = 24 * 3_600_000;

interface Identity {
  authority: string;
  pair: CertificateAndKey;
  /** time from which a new certificate is issued */
  renewAt: number;
}

/** Key that identifies a member. */
export const etcdTargetKey = ({ cluster, node }: EtcdTarget): string => `${formatKey(cluster)} ${node}`;

/** Connects to etcd members of workload clusters through port-forwards of their API servers. */
export function etcdConnector(
  options: EtcdConnectorOptions,
): (target: EtcdTarget, signal: AbortSignal) => Promise<EtcdAdministrator> {
  const { clock, workloads } = options;
  const dialTimeoutMs = options.dialTimeoutMs ?? 5_000;
  const identities = new Map<string, Identity>();

  const identityOf = async (cluster: ObjectKey, signal: AbortSignal): Promise<Identity> => {
    const key = formatKey(cluster);
    const known = identities.get(key);
    if (known && clock.now() < known.renewAt) return known;
    const name = clusterSecretName(cluster.name, 'etcd');
    const secretKey = cluster.namespace === undefined ? { name } : { namespace: cluster.namespace, name };
    const authority = authorityFromSecret(await options.client.get(Secrets, secretKey, { signal }));
    if (!authority) {
      throw new EtcdError(`Secret ${formatKey(secretKey)} holds no authority for etcd`, {
        hint: 'it needs tls.crt and tls.key',
      });
    }
    const pair = await issueCertificate({
      authority,
      commonName: 'cluster-api.x-k8s.io',
      usages: ['client'],
      clock,
      validityMs: certificateLifeMs,
    });
    const identity = { authority: authority.certificate, pair, renewAt: clock.now() + certificateLifeMs / 2 };
    // drop expired identities, including those of deleted clusters
    for (const [other, { renewAt }] of identities) if (clock.now() >= renewAt) identities.delete(other);
    identities.set(key, identity);
    return identity;
  };

  return async ({ cluster, node }, signal) => {
    const { authority, pair } = await identityOf(cluster, signal);
    const pod = { namespace: 'kube-system', name: `etcd-${node}` };
    const stream = await workloads.portForward(cluster, pod, etcdPort, signal);
    try {
      const socket = await secureStream(
        stream,
        {
          authority,
          certificate: pair.certificate,
          privateKey: pair.privateKey,
          serverName,
          alpn: ['h2'],
          clock,
          timeoutMs: dialTimeoutMs,
        },
        signal,
      );
      return etcdClient(
        openGrpcChannel({
          stream: socket,
          authority: serverName,
          clock,
          callTimeoutMs: options.callTimeoutMs ?? 10_000,
        }),
      );
    } catch (error) {
      // the CA may have changed since the certificate was issued
      identities.delete(formatKey(cluster));
      throw error;
    }
  };
}
