export {
  type DecodedProtobuf,
  decodeKubernetesProtobuf,
  encodeKubernetesProtobuf,
  encodeProtobufWatchFrame,
  isKubernetesProtobuf,
  protobufMagic,
  protobufMediaType,
} from './envelope.ts';
export { isUnregisteredKind, ProtobufError, type ProtobufErrorReason } from './error.ts';
export { bytesField, numberField, type RawField, readRawFields } from './fields.ts';
export type { ProtobufField, ProtobufLeaf, ProtobufMessage, ProtobufRegistry } from './message.ts';
