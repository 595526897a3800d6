/** `malformed` is an error of the sender (400); `unregisteredKind` means that the kind has no table here (415). */
export type ProtobufErrorReason = 'malformed' | 'unregisteredKind';

/** The bytes are not valid protobuf, or an object does not match its table. */
export class ProtobufError extends Error {
  readonly reason: ProtobufErrorReason;

  constructor(message: string, reason: ProtobufErrorReason = 'malformed') {
    super(message);
    this.name = 'ProtobufError';
    this.reason = reason;
  }
}

/** Reports whether the kind has no protobuf table here, so that the client should use JSON instead. */
export function isUnregisteredKind(error: unknown): boolean {
  return error instanceof ProtobufError && error.reason === 'unregisteredKind';
}
