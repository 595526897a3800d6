import type { Readable } from 'node:stream';
import { isJsonObject, type JsonObject, parseJson } from '../../../machinery/index.ts';

/** Message size limit; a signing request has about a tenth of it. */
export const maxMessageBytes = 16_384;

export class MessageTooLargeError extends Error {}

/** Reads a whole message as text; buffers at most `limit` bytes. */
export async function readMessage(stream: Readable, limit: number = maxMessageBytes): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new MessageTooLargeError(`a message may have ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

/** Parses an untrusted message; anything but an object becomes empty. */
export function objectOf(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const maxShownText = 300;

/** Returns a text of an untrusted object, safe to display. */
export function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxShownText);
}
