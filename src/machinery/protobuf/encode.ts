import type { JsonObject, JsonValue } from '../json/value.ts';
import { ProtobufError } from './error.ts';
import type { ProtobufField, ProtobufLeaf, ProtobufMessage } from './message.ts';
import { parseTimestamp } from './timestamp.ts';
import { wireBytes, wireFixed64, wireVarint } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** seconds of 0001-01-01T00:00:00Z, which Go writes as an empty message */
const goZeroTime = -62_135_596_800;

const noFields: JsonObject = {};

/**
 * Writes the fields of a message exactly as Go's generated code does: in ascending order, maps sorted by key, and
 * non-pointer values even when zero.
 */
export function writeMessage(writer: WireWriter, message: ProtobufMessage, value: JsonValue): void {
  const members = message.fromJson === undefined ? asObject(message, value) : message.fromJson(value);
  for (const field of message.fields) writeField(writer, message, field, members);
}

function asObject(message: ProtobufMessage, value: JsonValue): JsonObject {
  if (value === null) return noFields;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ProtobufError(`protobuf: ${message.name} must be an object`);
  }
  return value;
}

function writeField(writer: WireWriter, message: ProtobufMessage, field: ProtobufField, members: JsonObject): void {
  const type = field.type;
  if (field.shape === 'inline') {
    writer.tag(field.number, wireBytes);
    const start = writer.openMessage();
    for (const inner of (type as ProtobufMessage).fields) writeField(writer, type as ProtobufMessage, inner, members);
    writer.closeMessage(start);
    return;
  }
  const value = Object.hasOwn(members, field.name) ? (members[field.name] ?? null) : null;
  switch (field.shape) {
    case 'one':
      if (value !== null) writeTagged(writer, message, field, field.number, value);
      else if (!field.pointer && type !== 'bytes') writeZero(writer, message, field, field.number);
      return;
    case 'list':
      if (value === null) return;
      if (!Array.isArray(value)) throw mismatch(message, field, 'a list');
      for (const element of value) {
        if (element === null) writeZero(writer, message, field, field.number);
        else writeTagged(writer, message, field, field.number, element);
      }
      return;
    default: {
      if (value === null) return;
      if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(message, field, 'a map');
      for (const key of Object.keys(value).sort()) {
        const entry = value[key] ?? null;
        writer.tag(field.number, wireBytes);
        const start = writer.openMessage();
        writer.tag(1, wireBytes);
        writer.string(key);
        if (entry === null) writeZero(writer, message, field, 2);
        else writeTagged(writer, message, field, 2, entry);
        writer.closeMessage(start);
      }
    }
  }
}

function writeZero(writer: WireWriter, message: ProtobufMessage, field: ProtobufField, number: number): void {
  switch (field.type) {
    case 'string':
    case 'bytes':
    case 'time':
    case 'microTime':
    case 'rawJson':
      writer.tag(number, wireBytes);
      writer.unsigned(0);
      return;
    case 'bool':
      writeTagged(writer, message, field, number, false);
      return;
    case 'quantity':
      writeTagged(writer, message, field, number, '0');
      return;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      writeTagged(writer, message, field, number, 0);
      return;
    default:
      writeTagged(writer, message, field, number, null);
  }
}

function writeTagged(
  writer: WireWriter,
  message: ProtobufMessage,
  field: ProtobufField,
  number: number,
  value: JsonValue,
): void {
  const type = field.type;
  if (typeof type === 'object') {
    writer.tag(number, wireBytes);
    const start = writer.openMessage();
    writeMessage(writer, type, value);
    writer.closeMessage(start);
    return;
  }
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw mismatch(message, field, 'a string');
      writer.tag(number, wireBytes);
      writer.string(value);
      return;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(message, field, 'base64 text');
      writer.tag(number, wireBytes);
      writer.bytes(Buffer.from(value, 'base64'));
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(message, field, 'a boolean');
      writer.tag(number, wireVarint);
      writer.unsigned(value ? 1 : 0);
      return;
    case 'int32':
      if (!isInteger(value, 2 ** 31)) throw mismatch(message, field, 'a 32-bit integer');
      writer.tag(number, wireVarint);
      writer.signed(value);
      return;
    case 'int64':
      if (!isInteger(value, 2 ** 63)) throw mismatch(message, field, 'a 64-bit integer');
      writer.tag(number, wireVarint);
      writer.signed(value);
      return;
    case 'double':
      if (typeof value !== 'number') throw mismatch(message, field, 'a number');
      writer.tag(number, wireFixed64);
      writer.double(value);
      return;
    default:
      writer.tag(number, wireBytes);
      writeStructuredLeaf(writer, message, field, type, value);
  }
}

function writeStructuredLeaf(
  writer: WireWriter,
  message: ProtobufMessage,
  field: ProtobufField,
  type: ProtobufLeaf,
  value: JsonValue,
): void {
  const start = writer.openMessage();
  switch (type) {
    case 'time':
    case 'microTime': {
      const timestamp = typeof value === 'string' ? parseTimestamp(value) : undefined;
      if (timestamp === undefined) throw mismatch(message, field, 'an RFC 3339 time');
      const nanos = type === 'time' ? 0 : timestamp.nanos - (timestamp.nanos % 1000);
      if (timestamp.seconds !== goZeroTime || nanos !== 0) {
        writer.tag(1, wireVarint);
        writer.signed(timestamp.seconds);
        writer.tag(2, wireVarint);
        writer.unsigned(nanos);
      }
      break;
    }
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') throw mismatch(message, field, 'a quantity');
      writer.tag(1, wireBytes);
      writer.string(String(value));
      break;
    case 'intOrString':
      if (typeof value !== 'string' && !isInteger(value, 2 ** 31)) {
        throw mismatch(message, field, 'a 32-bit integer or a string');
      }
      writer.tag(1, wireVarint);
      writer.unsigned(typeof value === 'string' ? 1 : 0);
      writer.tag(2, wireVarint);
      writer.signed(typeof value === 'string' ? 0 : value);
      writer.tag(3, wireBytes);
      writer.string(typeof value === 'string' ? value : '');
      break;
    default:
      writer.tag(1, wireBytes);
      writer.string(JSON.stringify(value));
  }
  writer.closeMessage(start);
}

/** Accepts 2^63, although it is too large by one, because a JavaScript number rounds the largest int64 to it. */
function isInteger(value: JsonValue, limit: number): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= -limit &&
    (value < limit || (value === limit && limit > Number.MAX_SAFE_INTEGER))
  );
}

function mismatch(message: ProtobufMessage, field: ProtobufField, expected: string): ProtobufError {
  return new ProtobufError(`protobuf: ${message.name}.${field.name} must be ${expected}`);
}
