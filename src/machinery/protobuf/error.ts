/** `malformed` bytes are the sender's fault (400); an `unregisteredKind` is one we have no table for (415). */
export type ProtobufErrorReason = 'malformed' | 'unregisteredKind';

/** Bytes that are not the protobuf they claim to be, or an object that does not fit its table. */
export class ProtobufError extends Error {
  readonly reason: ProtobufErrorReason;

  constructor(message: string, reason: ProtobufErrorReason = 'malformed') {
    super(message);
    this.name = 'ProtobufError';
    this.reason = reason;
  }
}

/** True when the bytes may be fine but the kind has no protobuf table here: the client should use JSON instead. */
export function isUnregisteredKind(error: unknown): boolean {
  return error instanceof ProtobufError && error.reason === 'unregisteredKind';
}
