import { etcdErrors } from './errors.ts';
import type { EtcdCluster } from './etcd-cluster.ts';
import type { EtcdKeys } from './keys.ts';
import { type Fields, writeFields } from './protobuf.ts';

/** One etcd member from the view of its clients. */
export interface EtcdEndpoint {
  readonly cluster: EtcdCluster;
  readonly memberId: string;
  /** version of the etcd program, such as 3.6.4 */
  readonly version: string;
  readonly data: EtcdKeys;
}

/** The user and member of a request. */
export interface EtcdCall {
  readonly endpoint: EtcdEndpoint;
  /** common name of the client certificate; empty without one */
  readonly user: string;
}

/** Handles a request; returns one message or a stream. */
export type Method = (call: EtcdCall, request: Fields) => Promise<Buffer | Buffer[]> | Buffer;

export const idNumber = (id: string): bigint => BigInt(`0x${id}`);
export const idText = (id: bigint): string => id.toString(16);

export function header({ cluster, memberId, data }: EtcdEndpoint): Buffer {
  return writeFields({ 1: idNumber(cluster.id), 2: idNumber(memberId), 3: data.revision(), 4: cluster.term });
}

/** A linearizable read requires a quorum. */
export function agreed({ cluster }: EtcdEndpoint): void {
  if (!cluster.hasQuorum) throw etcdErrors.timeout();
}
