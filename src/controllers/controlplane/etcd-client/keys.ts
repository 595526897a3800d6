import { bytesField } from '../../../machinery/index.ts';
import type { GrpcChannel } from './grpc.ts';
import type { EtcdKeys } from './types.ts';
import { numberOf, readFields } from './wire.ts';

const service = '/etcdserverpb.KV';
/** The zero byte: as key the smallest key, as range end "all keys from there on". */
const everything = Buffer.from([0]);

/** Access to stored keys through etcd's KV API. */
export function etcdKeys(channel: GrpcChannel): EtcdKeys {
  return {
    async put({ key, value }, signal) {
      await channel.call(`${service}/Put`, Buffer.concat([bytesField(1, key), bytesField(2, value)]), signal);
    },
    async deleteAll(signal) {
      const request = Buffer.concat([bytesField(1, everything), bytesField(2, everything)]);
      const answer = await channel.call(`${service}/DeleteRange`, request, signal);
      for (const field of readFields(answer)) if (field.number === 2) return numberOf(field);
      return 0;
    },
  };
}
