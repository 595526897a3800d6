import {
  decodeKubernetesProtobuf,
  errorMessage,
  isJsonObject,
  isKubernetesProtobuf,
  isUnregisteredKind,
  type LargeIntegers,
  type ProtobufRegistry,
  parseJsonStrict,
  parseYaml,
  protobufMagic,
  protobufMediaType,
  statusError,
} from '../../machinery/index.ts';
import type { DecodedBody } from '../service/types.ts';
import type { Exchange } from './exchange.ts';
import { parseMediaRanges } from './media-types.ts';

const maxDiscardedBytes = 64 * 1024 * 1024;

export interface BodyLimits {
  maxBytes: number;
  protobuf: ProtobufRegistry;
}

/**
 * Reads a request body up to the limit. A larger body gives a 413 and is not read further. A request counts as a write
 * only when its body is complete, so unfinished bodies do not block other writes.
 */
export async function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  const declared = Number(exchange.header('content-length') ?? 0);
  if (declared > maxBytes) throw tooLarge(exchange, maxBytes);
  if (exchange.wire.hasBody) exchange.flow?.expectBody(declared > 0 ? declared : maxBytes);
  const bytes = await receiveBody(exchange, maxBytes, declared);
  await exchange.flow?.beginWrite();
  return bytes;
}

function receiveBody(exchange: Exchange, maxBytes: number, declared: number): Promise<Buffer> {
  const { input, wire } = exchange;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks, size));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        input.off('data', onData);
        reject(tooLarge(exchange, maxBytes));
        return;
      }
      chunks.push(chunk);
      if (size !== declared || !wire.putBackLast) return;
      input.off('data', onData);
      wire.putBackLast(chunk);
      finish();
    };
    input.on('data', onData);
    input.on('end', finish);
    input.on('error', reject);
    input.on('aborted', () =>
      reject(statusError.badRequest('the client closed the request before its body was complete')),
    );
  });
}

function tooLarge(exchange: Exchange, maxBytes: number): Error {
  // Most clients read the response only after sending everything, so the rest is discarded up to a limit.
  let discarded = 0;
  exchange.input.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxDiscardedBytes) exchange.input.destroy();
  });
  exchange.wire.announceClose();
  return statusError.requestEntityTooLarge(`Request entity too large: limit is ${maxBytes}`);
}

/** Parses a body of the expected kind by its content type. The result is private to the request. */
export function parseBody(
  exchange: Exchange,
  bytes: Buffer,
  { limits, kind, largeIntegers }: { limits: BodyLimits; kind: string; largeIntegers?: LargeIntegers | undefined },
): DecodedBody {
  // Like upstream, treats a missing content type as JSON.
  const contentType = exchange.header('content-type') || 'application/json';
  const type = parseMediaRanges(contentType)[0]?.type ?? '';
  switch (type) {
    case 'application/json':
      return parseJsonBody(bytes, kind, largeIntegers);
    case 'application/yaml':
      return parseYamlBody(bytes, kind, largeIntegers);
    case protobufMediaType:
      return parseProtobufBody(bytes, limits.protobuf, kind);
    default:
      throw statusError.unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobufMediaType}`,
      );
  }
}

function parseJsonBody(bytes: Buffer, kind: string, largeIntegers: LargeIntegers | undefined): DecodedBody {
  try {
    const json = bytes.toString('utf8');
    const body = parseJsonStrict(json, largeIntegers);
    // null decodes to an empty object, as in Go
    return body.value === null ? { value: {}, duplicateFields: [] } : { ...body, json };
  } catch (error) {
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${goJsonError(error)}`, bytes);
  }
}

function parseYamlBody(bytes: Buffer, kind: string, largeIntegers: LargeIntegers = 'refuse'): DecodedBody {
  try {
    const options = { largeIntegers, duplicateLines: true };
    const { value, duplicateFields, duplicates } = parseYaml(bytes.toString('utf8'), options);
    return { value: value ?? {}, duplicateFields, duplicateLines: duplicates };
  } catch (error) {
    throw unrecognized(kind, errorMessage(error), bytes);
  }
}

/** Parses the body of an apply patch: YAML, which includes JSON. */
export function parseApplyBody(bytes: Buffer, largeIntegers: LargeIntegers): DecodedBody {
  try {
    const options = { largeIntegers, duplicateLines: true };
    const { value, duplicateFields, duplicates } = parseYaml(bytes.toString('utf8'), options);
    return { value, duplicateFields, duplicateLines: duplicates };
  } catch (error) {
    throw statusError.badRequest(`error decoding YAML: error converting YAML to JSON: ${errorMessage(error)}`);
  }
}

/** Parses the body of a JSON, merge or strategic merge patch. */
export function parsePatchBody(bytes: Buffer, largeIntegers?: LargeIntegers): DecodedBody {
  try {
    return parseJsonStrict(bytes.toString('utf8'), largeIntegers);
  } catch (error) {
    throw statusError.badRequest(`error decoding patch: ${goJsonError(error)}`);
  }
}

function parseProtobufBody(bytes: Buffer, registry: ProtobufRegistry, kind: string): DecodedBody {
  if (!isKubernetesProtobuf(bytes)) {
    const prefix = `[${[...protobufMagic].join(' ')}]`;
    throw unrecognized(
      kind,
      `provided data does not appear to be a protobuf message, expected prefix ${prefix}`,
      bytes,
    );
  }
  try {
    const { object } = decodeKubernetesProtobuf(bytes, registry);
    return { value: isJsonObject(object) ? object : undefined, duplicateFields: [] };
  } catch (error) {
    if (isUnregisteredKind(error)) {
      throw statusError.unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      );
    }
    throw unrecognized(kind, errorMessage(error), bytes);
  }
}

function unrecognized(kind: string, reason: string, bytes: Buffer): Error {
  return statusError.badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${reason} (${summarize(bytes)})`,
  );
}

const maxSummaryBytes = 1024;

/** Returns the start of an invalid body, for the error message. */
function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const start = bytes.subarray(0, maxSummaryBytes);
  const text = bytes[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return bytes.length > maxSummaryBytes ? `${text} ...` : text;
}

/** Translates JSON errors into the messages of Go's decoder, which Kubernetes users search for. */
function goJsonError(error: unknown): string {
  const message = errorMessage(error);
  if (/Unexpected end of JSON input|Unterminated|Expected .* at position/i.test(message) && !/token/.test(message)) {
    return 'unexpected end of JSON input';
  }
  const token = /Unexpected token '(.)'/u.exec(message)?.[1];
  return token === undefined ? message : `invalid character '${token}' looking for beginning of value`;
}
