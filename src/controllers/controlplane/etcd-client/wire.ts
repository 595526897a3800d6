import { numberField, ProtobufError, type RawField, readRawFields } from '../../../machinery/index.ts';
import { EtcdError } from './types.ts';

/** Reads the fields of an etcd response; a malformed one throws EtcdError. */
export function* readFields(message: Buffer): Generator<RawField> {
  try {
    yield* readRawFields(message);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new EtcdError('the answer of etcd is not a protobuf message');
  }
}

export const textOf = ({ value }: RawField): string => (typeof value === 'bigint' ? '' : value.toString('utf8'));
export const numberOf = ({ value }: RawField): number => (typeof value === 'bigint' ? Number(value) : 0);
export const idOf = ({ value }: RawField): string => (typeof value === 'bigint' ? value.toString(16) : '0');
export const messageOf = ({ value }: RawField): Buffer => (typeof value === 'bigint' ? Buffer.alloc(0) : value);

/** Encodes a message with one number field. Zero values are omitted, as in proto3. */
export function numberMessage(number: number, value: bigint): Buffer {
  return value === 0n ? Buffer.alloc(0) : numberField(number, value);
}

/** Parses a hexadecimal id; throws EtcdError. */
export function parseId(id: string): bigint {
  if (!/^[0-9a-f]{1,16}$/.test(id)) throw new EtcdError(`${JSON.stringify(id)} is not the id of an etcd member`);
  return BigInt(`0x${id}`);
}
