import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ImageContent } from '../../../api/index.ts';
import { ImageContentError } from './fetch-content.ts';

/** Returns the compression format that cannot be decompressed; undefined if the content is readable. */
export function unsupportedCompression({ download }: ImageContent): string | undefined {
  const { decompress } = download;
  return decompress === undefined || decompress === 'gz' ? undefined : decompress;
}

/**
 * Yields the decompressed content for Glance. The hash of the download is checked before the last chunk is passed on.
 */
export function checkedContent(
  source: AsyncIterable<Uint8Array>,
  { download }: ImageContent,
): AsyncIterable<Uint8Array> {
  const checked = download.hash ? hashed(source, download.hash) : source;
  if (download.decompress !== 'gz') return checked;
  return decompressed(checked);
}

async function* hashed(
  source: AsyncIterable<Uint8Array>,
  { algorithm, value }: NonNullable<ImageContent['download']['hash']>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash(algorithm);
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  const found = hash.digest('hex');
  if (found !== value) {
    throw new ImageContentError(`the ${algorithm} of what was downloaded is ${found}, and ${value} is asked for`);
  }
}

async function* decompressed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = Readable.from(source);
  const output = createGunzip();
  input.on('error', (error) => output.destroy(error));
  input.pipe(output);
  try {
    for await (const chunk of output) yield chunk as Uint8Array;
  } catch (error) {
    if (error instanceof ImageContentError) throw error;
    throw new ImageContentError('what was downloaded is not compressed with gzip', { cause: error });
  } finally {
    input.destroy();
  }
}
