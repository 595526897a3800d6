import { checkServingCertificate, userOfCertificate } from '../../cluster/trust.ts';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import type { EtcdEndpoint } from '../../etcd/endpoint.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { PortService } from '../../types.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';

/** What a client meets behind a port that etcd, or what stands in for it, listens on. */
export interface EtcdWay {
  readonly endpoint: EtcdEndpoint;
  /** PEM of the certificate it serves with; absent: it speaks in the clear */
  readonly serving?: string;
  /** PEM of the authorities whose clients it lets in; absent: all of them */
  readonly clientAuthorities?: string;
  /** where the keys of a client with this prefix are */
  keyspace(prefix: string): WorkloadCluster;
}

const ways = new WeakMap<PortService, EtcdWay>();

/** Marks a port as one of etcd, for clients in this process. */
export function markEtcd(service: PortService, way: EtcdWay): PortService {
  ways.set(service, way);
  return service;
}

export function etcdBehind(service: PortService | undefined): EtcdWay | undefined {
  return service && ways.get(service);
}

/** How a client shows who it is; PEM. */
export interface EtcdCredentials {
  readonly authorities: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** A cluster that was reached and has let the client in. */
export interface EtcdConnection {
  readonly way: EtcdWay;
  /** the common name of the client's certificate */
  readonly user: string;
}

/** Goes to one server of etcd; throws an error in the words of Go's client. */
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

/** The end of the range of all keys below a prefix. */
export function prefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
}
