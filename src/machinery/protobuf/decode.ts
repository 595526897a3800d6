import type { JsonObject, JsonValue } from '../json/value.ts';
import { ProtobufError } from './error.ts';
import { layoutOf, type MessageLayout, zeroMessage, zeroOfLeaf } from './layout.ts';
import type { ProtobufField, ProtobufLeaf, ProtobufMessage } from './message.ts';
import { formatMicroTime, formatTime } from './timestamp.ts';
import { WireReader, wireBytes, wireFixed64, wireVarint } from './wire-reader.ts';

/** Deeper than any schema of a CustomResourceDefinition, but safe for the stack. */
const maxDepth = 200;

/**
 * Limits the number of messages. Two bytes can encode one more container, whose JSON is a hundred times larger. Objects
 * near the body limit of the API server stay far below this number.
 */
const maxMessages = 500_000;

/** seconds of 0001-01-01T00:00:00Z, Go's zero time */
const goZeroTime = -62_135_596_800;

/** Decodes the embedded envelope of a RawExtension. Passed in, because only the envelope decoder knows the registry. */
export type EmbeddedDecoder = (bytes: Uint8Array) => JsonValue;

interface Decoding {
  reader: WireReader;
  embedded: EmbeddedDecoder;
  messagesLeft: number;
  /** nesting depth of the message being read */
  depth: number;
}

/** Decodes one message into the JSON that Go would write for the same struct. Throws ProtobufError. */
export function decodeMessage(bytes: Uint8Array, message: ProtobufMessage, embedded: EmbeddedDecoder): JsonValue {
  const decoding: Decoding = { reader: new WireReader(bytes), embedded, messagesLeft: maxMessages, depth: 0 };
  return readMessage(decoding, message);
}

/** Reads to the end of the window. A repeated message is merged into the first one. */
function readMessage(decoding: Decoding, message: ProtobufMessage, existing?: JsonValue): JsonValue {
  if (decoding.depth > maxDepth) throw new ProtobufError(`protobuf: messages are nested more than ${maxDepth} deep`);
  if (--decoding.messagesLeft < 0) throw new ProtobufError(`protobuf: more than ${maxMessages} nested messages`);
  const layout = layoutOf(message);
  const target = isPlainObject(existing) && message.toJson === undefined ? existing : {};
  readFields(decoding, layout, target);
  for (const member of layout.emitted) {
    if (target[member.name] === undefined) target[member.name] = member.zero();
  }
  return message.toJson === undefined ? target : message.toJson(target);
}

function readFields(decoding: Decoding, layout: MessageLayout, target: JsonObject): void {
  const reader = decoding.reader;
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (number === 0) throw new ProtobufError('protobuf: field number 0 is not allowed');
    const field = layout.byNumber[number];
    if (field === undefined) {
      reader.skip(wireType);
      continue;
    }
    switch (field.shape) {
      case 'one':
        readSingle(decoding, layout, field, wireType, target);
        break;
      case 'list':
        readElement(decoding, layout, field, wireType, target);
        break;
      case 'map':
        readEntry(decoding, layout, field, wireType, target);
        break;
      default:
        readInline(decoding, layout, field, wireType, target);
    }
  }
}

function readSingle(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  wireType: number,
  target: JsonObject,
): void {
  const existing = typeof field.type === 'object' ? target[field.name] : undefined;
  const value = readValue(decoding, layout, field, wireType, existing);
  if (!field.pointer && field.whenUnset === 'omit' && isOmittedZero(field.type, value)) {
    if (target[field.name] !== undefined) delete target[field.name];
  } else {
    setMember(target, field.name, value);
  }
}

/** Reports whether `omitempty` omits the value. Structs never count as empty, so a zero time or quantity stays. */
function isOmittedZero(type: ProtobufLeaf | ProtobufMessage, value: JsonValue): boolean {
  switch (type) {
    case 'string':
    case 'bytes':
      return value === '';
    case 'bool':
      return value === false;
    case 'int32':
    case 'int64':
    case 'double':
      return value === 0;
    // reached only by `omitzero` fields; all other struct values are emitted
    case 'time':
    case 'microTime':
      return value === null;
    default:
      return false;
  }
}

function readElement(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  wireType: number,
  target: JsonObject,
): void {
  let list = target[field.name];
  if (!Array.isArray(list)) {
    list = [];
    setMember(target, field.name, list);
  }
  if (wireType === wireBytes && isPackable(field.type)) {
    const reader = decoding.reader;
    const end = enter(reader);
    const elementWire = field.type === 'double' ? wireFixed64 : wireVarint;
    while (reader.position < reader.end) list.push(readValue(decoding, layout, field, elementWire));
    reader.end = end;
    return;
  }
  list.push(readValue(decoding, layout, field, wireType));
}

function isPackable(type: ProtobufLeaf | ProtobufMessage): boolean {
  return type === 'int32' || type === 'int64' || type === 'bool' || type === 'double';
}

/** Reads a map entry {1 key, 2 value}. A missing key or value has its zero value. */
function readEntry(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  wireType: number,
  target: JsonObject,
): void {
  expectWire(layout, field, wireType, wireBytes);
  const reader = decoding.reader;
  let map = target[field.name] as JsonObject | null | undefined;
  if (map === undefined || map === null) {
    map = {};
    setMember(target, field.name, map);
  }
  const end = enter(reader);
  let key = '';
  let value: JsonValue | undefined;
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    const number = tag >>> 3;
    if (number === 1) {
      expectWire(layout, field, tag & 7, wireBytes);
      key = reader.string();
    } else if (number === 2) value = readValue(decoding, layout, field, tag & 7);
    else reader.skip(tag & 7);
  }
  reader.end = end;
  setMember(map, key, value ?? zeroOfEntry(field.type));
}

/**
 * Unlike a field, missing bytes in a map entry are empty and not null: Go's generated code starts from an empty slice.
 */
function zeroOfEntry(type: ProtobufLeaf | ProtobufMessage): JsonValue {
  if (typeof type === 'object') return zeroMessage(type);
  return type === 'bytes' ? '' : zeroOfLeaf(type);
}

function readInline(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  wireType: number,
  target: JsonObject,
): void {
  expectWire(layout, field, wireType, wireBytes);
  const end = enter(decoding.reader);
  readFields(decoding, layoutOf(field.type as ProtobufMessage), target);
  decoding.reader.end = end;
}

function readValue(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  wireType: number,
  existing?: JsonValue,
): JsonValue {
  const type = field.type;
  const reader = decoding.reader;
  switch (type) {
    case 'string':
      expectWire(layout, field, wireType, wireBytes);
      return reader.string();
    case 'bytes':
      expectWire(layout, field, wireType, wireBytes);
      return reader.base64();
    case 'bool':
      expectWire(layout, field, wireType, wireVarint);
      return reader.varint64() !== 0;
    case 'int32':
      expectWire(layout, field, wireType, wireVarint);
      return reader.varint32();
    case 'int64':
      expectWire(layout, field, wireType, wireVarint);
      return reader.varint64();
    case 'double':
      expectWire(layout, field, wireType, wireFixed64);
      return finite(layout, field, reader.double());
    default: {
      expectWire(layout, field, wireType, wireBytes);
      const end = enter(reader);
      decoding.depth++;
      const value =
        typeof type === 'object'
          ? readMessage(decoding, type, existing)
          : readStructuredLeaf(decoding, layout, field, type);
      decoding.depth--;
      reader.end = end;
      return value;
    }
  }
}

function finite(layout: MessageLayout, field: ProtobufField, value: number): number {
  if (!Number.isFinite(value)) throw new ProtobufError(`protobuf: ${describe(layout, field)} is not a finite number`);
  return value;
}

type StructuredLeaf = 'time' | 'microTime' | 'quantity' | 'intOrString' | 'rawJson';

function readStructuredLeaf(
  decoding: Decoding,
  layout: MessageLayout,
  field: ProtobufField,
  type: StructuredLeaf,
): JsonValue {
  const reader = decoding.reader;
  switch (type) {
    case 'time':
    case 'microTime':
      return readTime(reader, layout, field, type);
    case 'quantity':
      return readQuantity(reader, layout, field);
    case 'intOrString':
      return readIntOrString(reader, layout, field);
    default:
      return readRawJson(decoding, layout, field);
  }
}

/** Reads a timestamp. An empty message is Go's zero time, which is null in JSON. */
function readTime(
  reader: WireReader,
  layout: MessageLayout,
  field: ProtobufField,
  type: 'time' | 'microTime',
): string | null {
  if (reader.position === reader.end) return null;
  const timestamp = { seconds: 0, nanos: 0 };
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    if (tag === (1 << 3) + wireVarint) timestamp.seconds = reader.varint64();
    else if (tag === (2 << 3) + wireVarint) timestamp.nanos = reader.varint32();
    else skipUnknown(reader, layout, field, tag, 2);
  }
  if (timestamp.nanos < 0 || timestamp.nanos > 999_999_999) {
    throw new ProtobufError(`protobuf: ${describe(layout, field)} has nanoseconds out of range`);
  }
  if (type === 'time') return timestamp.seconds === goZeroTime ? null : formatTime(timestamp);
  return timestamp.seconds === goZeroTime && timestamp.nanos === 0 ? null : formatMicroTime(timestamp);
}

function readQuantity(reader: WireReader, layout: MessageLayout, field: ProtobufField): string {
  let text = '';
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    if (tag === (1 << 3) + wireBytes) text = reader.string();
    else skipUnknown(reader, layout, field, tag, 1);
  }
  return text === '' ? '0' : text;
}

function readIntOrString(reader: WireReader, layout: MessageLayout, field: ProtobufField): string | number {
  let type = 0;
  let number = 0;
  let text = '';
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    if (tag === (1 << 3) + wireVarint) type = reader.varint32();
    else if (tag === (2 << 3) + wireVarint) number = reader.varint32();
    else if (tag === (3 << 3) + wireBytes) text = reader.string();
    else skipUnknown(reader, layout, field, tag, 3);
  }
  if (type !== 0 && type !== 1)
    throw new ProtobufError(`protobuf: ${describe(layout, field)} is neither int nor string`);
  return type === 0 ? number : text;
}

/** Reads raw JSON, or the nested envelope that protobuf clients send in a RawExtension. */
function readRawJson(decoding: Decoding, layout: MessageLayout, field: ProtobufField): JsonValue {
  const reader = decoding.reader;
  let raw: Uint8Array | undefined;
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    if (tag === (1 << 3) + wireBytes) raw = reader.view(reader.length());
    else skipUnknown(reader, layout, field, tag, 1);
  }
  if (raw === undefined || raw.byteLength === 0) return null;
  if (raw[0] === 0x6b) return decoding.embedded(raw);
  try {
    return JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')) as JsonValue;
  } catch {
    throw new ProtobufError(`protobuf: ${describe(layout, field)} does not hold valid JSON`);
  }
}

function skipUnknown(
  reader: WireReader,
  layout: MessageLayout,
  field: ProtobufField,
  tag: number,
  highestKnown: number,
): void {
  const number = tag >>> 3;
  if (number === 0 || number <= highestKnown) {
    throw new ProtobufError(`protobuf: ${describe(layout, field)} is malformed`);
  }
  reader.skip(tag & 7);
}

/** Narrows the window to the next length-prefixed part and returns the previous end. */
function enter(reader: WireReader): number {
  const length = reader.length();
  const end = reader.end;
  reader.end = reader.position + length;
  return end;
}

function expectWire(layout: MessageLayout, field: ProtobufField, actual: number, expected: number): void {
  if (actual !== expected) {
    throw new ProtobufError(`protobuf: ${describe(layout, field)} has wire type ${actual}, expected ${expected}`);
  }
}

function describe(layout: MessageLayout, field: ProtobufField): string {
  return `${layout.message.name}.${field.name}`;
}

function isPlainObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Assigning `__proto__` would change the prototype instead of adding a member. */
function setMember(target: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
