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
  /** the management API, where the authority of etcd is */
  client: Client;
  workloads: Pick<WorkloadClusters, 'portForward'>;
  clock: Clock;
  dialTimeoutMs?: number;
  callTimeoutMs?: number;
}

const etcdPort = 2379;
/** kubeadm and rke2 write this name into the certificate of every member. */
const serverName = 'localhost';
const certificateLifeMs = 24 * 3_600_000;

interface Identity {
  authority: string;
  pair: CertificateAndKey;
  /** a new one is issued from here on */
  renewAt: number;
}

/** Tells one member from others. */
export const etcdTargetKey = ({ cluster, node }: EtcdTarget): string => `${formatKey(cluster)} ${node}`;

/** Talks to the members of workload clusters through the port-forward of their API servers. */
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
    // clusters that are gone are not asked for again
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
      // the authority may have been replaced since the certificate was issued
      identities.delete(formatKey(cluster));
      throw error;
    }
  };
}
