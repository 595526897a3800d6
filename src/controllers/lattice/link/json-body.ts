import type { Readable } from 'node:stream';
import { isJsonObject, type JsonObject, parseJson } from '../../../machinery/index.ts';

/** The largest message either side reads: a signing request is a tenth of it. */
export const maxMessageBytes = 16_384;

export class MessageTooLargeError extends Error {}

/** A whole message as text; never holds more than the limit. */
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

/** What somebody wrote who may be hostile: an object, or nothing. */
export function objectOf(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const maxShownText = 300;

/** A text out of such an object, as it may be shown. */
export function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxShownText);
}
