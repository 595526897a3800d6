import { etcdErrors } from './errors.ts';
import type { EtcdCluster } from './etcd-cluster.ts';
import type { EtcdKeys } from './keys.ts';
import { type Fields, writeFields } from './protobuf.ts';

/** One member as its clients meet it. */
export interface EtcdEndpoint {
  readonly cluster: EtcdCluster;
  readonly memberId: string;
  /** of the etcd program, such as 3.6.4 */
  readonly version: string;
  readonly data: EtcdKeys;
}

/** Who asks which member. */
export interface EtcdCall {
  readonly endpoint: EtcdEndpoint;
  /** the common name of the client's certificate; empty: it has none */
  readonly user: string;
}

/** Answers one request, with one message or a stream of them. */
export type Method = (call: EtcdCall, request: Fields) => Promise<Buffer | Buffer[]> | Buffer;

export const idNumber = (id: string): bigint => BigInt(`0x${id}`);
export const idText = (id: bigint): string => id.toString(16);

export function header({ cluster, memberId, data }: EtcdEndpoint): Buffer {
  return writeFields({ 1: idNumber(cluster.id), 2: idNumber(memberId), 3: data.revision(), 4: cluster.term });
}

/** Answers that must be the newest need a majority to say so. */
export function agreed({ cluster }: EtcdEndpoint): void {
  if (!cluster.hasQuorum) throw etcdErrors.timeout();
}
