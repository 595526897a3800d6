import type { Secret } from '../../../../api/index.ts';
import { formatKey, type ObjectKey } from '../../../../client/index.ts';
import { type EtcdClusterSpec, etcdClientPort, etcdOperatorCredential } from '../../../../hosting/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import { secretText } from '../../../shared/index.ts';
import { etcdClient } from '../../etcd-client/client.ts';
import { openGrpcChannel } from '../../etcd-client/grpc.ts';
import { pooledEtcd } from '../../etcd-client/pool.ts';
import { secureStream } from '../../etcd-client/secure-stream.ts';
import { type EtcdAdministrator, EtcdError } from '../../etcd-client/types.ts';
import type { ConnectPod } from '../types.ts';

/** One etcd member of a plane, with client credentials. */
export interface PlaneEtcdTarget {
  readonly pod: ObjectKey;
  /** server name in the serving certificate */
  readonly serverName: string;
  /** PEM */
  readonly trust: string;
  readonly certificate: string;
  readonly privateKey: string;
}

export type OpenPlaneEtcd = (target: PlaneEtcdTarget, signal: AbortSignal) => Promise<EtcdAdministrator>;

/** Members load large stores before they answer, and defragmentation of one takes long. */
const callTimeoutMs = 30_000;
const dialTimeoutMs = 5_000;

/** Connects to members through port-forwards of the management API, and pools the connections. */
export function planeEtcd(connectPod: ConnectPod, clock: Clock): OpenPlaneEtcd {
  const open: OpenPlaneEtcd = async (target, signal) => {
    const stream = await connectPod(target.pod, etcdClientPort, signal);
    const socket = await secureStream(
      stream,
      {
        authority: target.trust,
        certificate: target.certificate,
        privateKey: target.privateKey,
        serverName: target.serverName,
        alpn: ['h2'],
        clock,
        timeoutMs: dialTimeoutMs,
      },
      signal,
    );
    return etcdClient(openGrpcChannel({ stream: socket, authority: target.serverName, clock, callTimeoutMs }));
  };
  // the certificate is part of the key, so that old connections end with a rotation
  return pooledEtcd(open, ({ pod, certificate }) => `${formatKey(pod)} ${certificate}`, clock);
}

/** Builds the client credentials for an etcd; undefined until its certificates exist. */
export function etcdTargetOf(
  desired: Pick<EtcdClusterSpec, 'identity' | 'naming' | 'dataStore'>,
  read: (key: ObjectKey) => Secret | undefined,
): ((member: string) => PlaneEtcdTarget) | undefined {
  const { naming, identity } = desired;
  const { namespace } = identity;
  const operator = naming.secrets[etcdOperatorCredential(desired as EtcdClusterSpec)];
  const authority = naming.secrets['etcd-ca'];
  if (!operator || !authority) return undefined;
  const shown = read({ namespace, name: operator.name });
  const trusted = read({ namespace, name: authority.name });
  const certificate = secretText(shown, operator.certificate[0] ?? '');
  const privateKey = secretText(shown, operator.privateKey[0] ?? '');
  const trust = secretText(trusted, authority.bundle?.[0] ?? '') ?? secretText(trusted, authority.certificate[0] ?? '');
  if (certificate === undefined || privateKey === undefined || trust === undefined) return undefined;
  return (member) => ({
    pod: { namespace, name: member },
    serverName: 'localhost',
    trust,
    certificate,
    privateKey,
  });
}

export const unreachable = (problems: readonly string[]): EtcdError =>
  new EtcdError(`no member of etcd can be reached: ${problems.join('; ') || 'there is none'}`);
