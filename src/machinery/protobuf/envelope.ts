import type { JsonObject, JsonValue } from '../json/value.ts';
import type { UnstructuredObject } from '../meta/types.ts';
import { decodeMessage } from './decode.ts';
import { writeMessage } from './encode.ts';
import { ProtobufError } from './error.ts';
import type { ProtobufRegistry } from './message.ts';
import { WireReader, wireBytes } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** Magic bytes before every object: `k8s` and a zero byte. */
export const protobufMagic: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

export interface DecodedProtobuf {
  apiVersion: string;
  kind: string;
  object: UnstructuredObject;
}

/** Maximum nesting of envelopes. Real cases are a WatchEvent or a List of RawExtensions. */
const maxEnvelopeDepth = 4;

export function isKubernetesProtobuf(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && protobufMagic.every((byte, index) => bytes[index] === byte);
}

/**
 * Decodes an object as client-go sends it. `defaults` names the kind if the envelope does not, as upstream takes it
 * from the request path. Throws ProtobufError, with reason `unregisteredKind` if the kind has no table.
 */
export function decodeKubernetesProtobuf(
  bytes: Uint8Array,
  registry: ProtobufRegistry,
  defaults?: { apiVersion: string; kind: string },
): DecodedProtobuf {
  return decodeEnvelope(bytes, registry, defaults, 0);
}

function decodeEnvelope(
  bytes: Uint8Array,
  registry: ProtobufRegistry,
  defaults: { apiVersion: string; kind: string } | undefined,
  depth: number,
): DecodedProtobuf {
  if (!isKubernetesProtobuf(bytes)) throw new ProtobufError('protobuf: the body does not start with k8s\\x00');
  if (depth > maxEnvelopeDepth) throw new ProtobufError('protobuf: objects are embedded too deeply');
  const envelope = readEnvelope(bytes.subarray(4));
  const apiVersion = envelope.apiVersion || (defaults?.apiVersion ?? '');
  const kind = envelope.kind || (defaults?.kind ?? '');
  if (envelope.contentEncoding !== '') {
    throw new ProtobufError(`protobuf: content encoding "${envelope.contentEncoding}" is not supported`);
  }
  const message = registry.message(apiVersion, kind);
  if (message === undefined) {
    throw new ProtobufError(`protobuf: no protobuf table for ${apiVersion}, Kind=${kind}`, 'unregisteredKind');
  }
  const decoded = decodeMessage(
    envelope.raw,
    message,
    (raw) => decodeEnvelope(raw, registry, undefined, depth + 1).object as JsonValue,
  );
  return { apiVersion, kind, object: { apiVersion, kind, ...(decoded as JsonObject) } as UnstructuredObject };
}

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
  contentEncoding: string;
}

/** runtime.Unknown: {1 typeMeta, 2 raw, 3 contentEncoding, 4 contentType}. */
function readEnvelope(bytes: Uint8Array): Envelope {
  const reader = new WireReader(bytes);
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array(0), contentEncoding: '' };
  while (reader.position < reader.end) {
    const tag = reader.varint32() >>> 0;
    switch (tag) {
      case (1 << 3) + wireBytes: {
        const typeMeta = new WireReader(reader.view(reader.length()));
        while (typeMeta.position < typeMeta.end) {
          const inner = typeMeta.varint32() >>> 0;
          if (inner === (1 << 3) + wireBytes) envelope.apiVersion = typeMeta.string();
          else if (inner === (2 << 3) + wireBytes) envelope.kind = typeMeta.string();
          else typeMeta.skip(inner & 7);
        }
        break;
      }
      case (2 << 3) + wireBytes:
        envelope.raw = reader.view(reader.length());
        break;
      case (3 << 3) + wireBytes:
        envelope.contentEncoding = reader.string();
        break;
      default:
        // The content type adds nothing to the magic bytes.
        reader.skip(tag & 7);
    }
  }
  return envelope;
}

/** Encodes an object for a client that accepts only protobuf. Throws ProtobufError if the kind has no table. */
export function encodeKubernetesProtobuf(
  object: UnstructuredObject | JsonObject,
  registry: ProtobufRegistry,
): Uint8Array {
  const apiVersion = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '';
  const kind = typeof object['kind'] === 'string' ? object['kind'] : '';
  const message = registry.message(apiVersion, kind);
  if (message === undefined) {
    throw new ProtobufError(`protobuf: no protobuf table for ${apiVersion}, Kind=${kind}`, 'unregisteredKind');
  }
  const writer = new WireWriter();
  writer.raw(protobufMagic);
  writer.tag(1, wireBytes);
  const typeMeta = writer.openMessage();
  writer.tag(1, wireBytes);
  writer.string(apiVersion);
  writer.tag(2, wireBytes);
  writer.string(kind);
  writer.closeMessage(typeMeta);
  writer.tag(2, wireBytes);
  const raw = writer.openMessage();
  writeMessage(writer, message, object as JsonObject);
  writer.closeMessage(raw);
  // Go also writes the empty contentEncoding and contentType.
  writer.raw(Uint8Array.of(0x1a, 0, 0x22, 0));
  return writer.finish();
}

/**
 * Encodes one frame of a protobuf watch stream: the length as four big-endian bytes, then a bare WatchEvent `{1 type, 2
 * RawExtension}` whose raw bytes are the enveloped object.
 */
export function encodeProtobufWatchFrame(
  type: string,
  object: UnstructuredObject | JsonObject,
  registry: ProtobufRegistry,
): Uint8Array {
  const writer = new WireWriter();
  writer.raw(new Uint8Array(4));
  writer.tag(1, wireBytes);
  writer.string(type);
  writer.tag(2, wireBytes);
  const extension = writer.openMessage();
  writer.tag(1, wireBytes);
  writer.bytes(encodeKubernetesProtobuf(object, registry));
  writer.closeMessage(extension);
  const frame = writer.finish();
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, frame.byteLength - 4);
  return frame;
}
