import { checkServingCertificate, userOfCertificate } from '../../cluster/trust.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { EtcdEndpoint } from '../../etcd/endpoint.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { PortService } from '../../types.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';

/** Target of a client on a port of etcd or a substitute. */
export interface EtcdWay {
  readonly endpoint: EtcdEndpoint;
  /** PEM of the serving certificate; absent: no TLS */
  readonly serving?: string;
  /** PEM of the CA for client certificates; absent: all clients are accepted */
  readonly clientAuthorities?: string;
  /** keys of a client below a prefix */
  keyspace(prefix: string): WorkloadCluster;
}

const ways = new WeakMap<PortService, EtcdWay>();

/** Marks a port as etcd's, for clients in this process. */
export function markEtcd(service: PortService, way: EtcdWay): PortService {
  ways.set(service, way);
  return service;
}

export function etcdBehind(service: PortService | undefined): EtcdWay | undefined {
  return service && ways.get(service);
}

/** Client credentials, PEM. */
export interface EtcdCredentials {
  readonly authorities: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** A cluster that accepted the client. */
export interface EtcdConnection {
  readonly way: EtcdWay;
  /** common name of the client certificate */
  readonly user: string;
}

/** Connects to one etcd server. Throws errors in the words of Go's client. */
export function connectEtcd(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  server: string,
  credentials: EtcdCredentials,
): EtcdConnection {
  if (server.startsWith('unix://')) {
    const path = server.slice('unix://'.length);
    const way = etcdBehind(kubernetes.dialLocally(process, path));
    if (!way) throw new Error(`dial unix ${path}: connect: no such file or directory`);
    return { way, user: '' };
  }
  const url = new URL(server.includes('://') ? server : `https://${server}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || 2379;
  const way = etcdBehind(process.dial(host, port));
  if (!way) throw new Error(`dial tcp ${host}:${port}: what answers there is no etcd`);
  if (way.serving === undefined) return { way, user: '' };
  if (url.protocol !== 'https:') throw new Error('error reading server preface: EOF');
  const { clock } = process;
  if (credentials.authorities !== undefined) {
    checkServingCertificate(way.serving, { authority: credentials.authorities, serverName: host }, clock);
  }
  const { certificate, key } = credentials;
  if (way.clientAuthorities === undefined) return { way, user: '' };
  if (certificate === undefined || key === undefined) throw new Error('remote error: tls: certificate required');
  const user = userOfCertificate({ certificate, key }, way.clientAuthorities, clock);
  if (!user) throw new Error('remote error: tls: bad certificate');
  return { way, user: user.name };
}

/** Returns the end of the range of all keys below a prefix. */
export function prefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
}
