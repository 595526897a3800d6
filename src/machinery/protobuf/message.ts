import type { JsonObject, JsonValue } from '../json/value.ts';

/**
 * How one value looks on the wire and in JSON. Beyond the scalars there are the messages Kubernetes maps to
 * something else than a JSON object:
 * - `time`, `microTime`: `{1 seconds, 2 nanos}` <-> RFC 3339 text
 * - `quantity`: `{1 text}` <-> text
 * - `intOrString`: `{1 type, 2 number, 3 text}` <-> number or text
 * - `rawJson`: `{1 bytes of a JSON document}` <-> that document (FieldsV1, RawExtension, JSON)
 */
export type ProtobufLeaf =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  | 'rawJson';

/** A protobuf message. Messages may be recursive, so `fields` may be computed on first use. */
export interface ProtobufMessage {
  /** for error messages */
  readonly name: string;
  /** in ascending order of their numbers */
  readonly fields: readonly ProtobufField[];
  /**
   * converts decoded fields to JSON and back, for messages that are not an object in JSON, such as a union or a wrapped
   * list
   */
  toJson?(fields: JsonObject): JsonValue;
  fromJson?(value: JsonValue): JsonObject;
}

export interface ProtobufField {
  /** name in JSON; unused for `inline` fields */
  readonly name: string;
  readonly number: number;
  readonly type: ProtobufLeaf | ProtobufMessage;
  /** `inline`: the fields of the nested message are members of the parent JSON object */
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  /** absent differs from zero: a zero on the wire is kept, an absent value is not written */
  readonly pointer: boolean;
  /** how Go's JSON encoder treats an unset value: omit it, or write its zero value (null for a nil pointer) */
  readonly whenUnset: 'omit' | 'emit';
}

/** Finds the message of a kind. */
export interface ProtobufRegistry {
  message(apiVersion: string, kind: string): ProtobufMessage | undefined;
}
