import type { JsonValue } from '../json/value.ts';
import type { ProtobufField, ProtobufLeaf, ProtobufMessage } from './message.ts';

/** Decoding data of a message, computed once. */
export interface MessageLayout {
  readonly message: ProtobufMessage;
  /** by field number, with holes */
  readonly byNumber: readonly (ProtobufField | undefined)[];
  /** members that Go's JSON encoder writes even when unset, including those of inlined messages */
  readonly emitted: readonly EmittedMember[];
}

export interface EmittedMember {
  readonly name: string;
  /** JSON value of the unset member; a fresh one on each call if it is mutable */
  readonly zero: () => JsonValue;
}

const layouts = new WeakMap<ProtobufMessage, MessageLayout>();

export function layoutOf(message: ProtobufMessage): MessageLayout {
  let layout = layouts.get(message);
  if (layout === undefined) {
    const byNumber: (ProtobufField | undefined)[] = [];
    for (const field of message.fields) byNumber[field.number] = field;
    layout = { message, byNumber, emitted: emittedMembers(message) };
    layouts.set(message, layout);
  }
  return layout;
}

function emittedMembers(message: ProtobufMessage): EmittedMember[] {
  const members: EmittedMember[] = [];
  for (const field of message.fields) {
    if (field.shape === 'inline') members.push(...layoutOf(field.type as ProtobufMessage).emitted);
    else if (field.whenUnset === 'emit') members.push({ name: field.name, zero: zeroOf(field) });
  }
  return members;
}

const nothing = (): JsonValue => null;

function zeroOf(field: ProtobufField): () => JsonValue {
  // Nil pointers, slices and maps are null in Go's JSON.
  if (field.pointer || field.shape !== 'one') return nothing;
  if (typeof field.type === 'object') {
    const message = field.type;
    return () => zeroMessage(message);
  }
  const zero = zeroOfLeaf(field.type);
  return () => zero;
}

/** Returns the JSON of an unset Go value: nil bytes, zero times and empty raw JSON are null, a zero quantity is "0". */
export function zeroOfLeaf(type: ProtobufLeaf): string | number | boolean | null {
  switch (type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    default:
      return null;
  }
}

/** Returns the JSON of an empty message. */
export function zeroMessage(message: ProtobufMessage): JsonValue {
  const fields: Record<string, JsonValue> = {};
  for (const member of layoutOf(message).emitted) fields[member.name] = member.zero();
  return message.toJson === undefined ? fields : message.toJson(fields);
}
