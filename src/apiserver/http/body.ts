import {
  decodeKubernetesProtobuf,
  errorMessage,
  isJsonObject,
  parseJsonStrict,
  parseYaml,
  isUnregisteredKind,
  type ProtobufRegistry,
  protobufMediaType,
  statusError,
} from '../../machinery/index.ts';
import type { DecodedBody } from '../service/types.ts';
import type { Exchange } from './exchange.ts';
import { parseMediaRanges } from './media-types.ts';

export interface BodyLimits {
  maxBytes: number;
  protobuf: ProtobufRegistry;
}

/** Reads a request body up to the limit; more than that is a 413 and the rest is not read. */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  const { request } = exchange;
  const declared = Number(exchange.header('content-length') ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(exchange, maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.removeAllListeners('data');
      request.pause();
      reject(tooLarge(exchange, maxBytes));
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    request.on('error', reject);
    request.on('aborted', () => reject(statusError.badRequest('the client closed the request before its body was complete')));
  });
}

function tooLarge(exchange: Exchange, maxBytes: number): Error {
  // What the client still sends is not worth reading; the connection ends with the answer.
  if (exchange.request.httpVersionMajor < 2) exchange.response.setHeader('connection', 'close');
  return statusError.requestEntityTooLarge(`Request entity too large: limit is ${maxBytes}`);
}

/** Parses a body by its content type; the result is private to the request. */
export function parseBody(exchange: Exchange, bytes: Buffer, limits: BodyLimits): DecodedBody {
  const contentType = exchange.header('content-type') ?? 'application/json';
  const type = parseMediaRanges(contentType)[0]?.type ?? '';
  switch (type) {
    case 'application/json':
      return parseJsonBody(bytes);
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYamlBody(bytes);
    case protobufMediaType:
      return parseProtobufBody(bytes, limits.protobuf);
    default:
      throw statusError.unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobufMediaType}`,
      );
  }
}

export function parseJsonBody(bytes: Buffer): DecodedBody {
  try {
    return parseJsonStrict(bytes.toString('utf8'));
  } catch (error) {
    throw statusError.badRequest(`couldn't get version/kind; json parse error: ${errorMessage(error)}`);
  }
}

export function parseYamlBody(bytes: Buffer): DecodedBody {
  const text = bytes.toString('utf8');
  // JSON is YAML, and most "YAML" bodies of programs are JSON; the JSON parser is a hundred times faster.
  if (/^\s*[{[]/.test(text)) {
    try {
      return parseJsonStrict(text);
    } catch {
      // flow-style YAML that is not JSON
    }
  }
  try {
    const value = parseYaml(text);
    return { value, duplicateFields: [] };
  } catch (error) {
    throw statusError.badRequest(`error decoding YAML: ${errorMessage(error)}`);
  }
}

function parseProtobufBody(bytes: Buffer, registry: ProtobufRegistry): DecodedBody {
  try {
    const { object } = decodeKubernetesProtobuf(bytes, registry);
    return { value: isJsonObject(object) ? object : undefined, duplicateFields: [] };
  } catch (error) {
    if (isUnregisteredKind(error)) {
      throw statusError.unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      );
    }
    throw statusError.badRequest(`unable to decode the protobuf body: ${errorMessage(error)}`);
  }
}
