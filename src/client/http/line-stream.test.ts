import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WatchDecodeError } from '../errors.ts';
import { readLines } from './line-stream.ts';

async function* chunksOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let i = 0; offset < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(offset, offset + size);
    offset += size;
  }
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const result: string[] = [];
  for await (const line of lines) result.push(line);
  return result;
}

describe('readLines', () => {
  it('returns every line however the bytes are split, even inside a character', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\n\r]/.test(text));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (lines, sizes) => {
          const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
          expect(await collect(readLines(chunksOf(bytes, sizes)))).toEqual(lines);
        },
      ),
    );
  });

  it('skips the empty lines some proxies send to keep a connection alive', async () => {
    expect(await collect(readLines(chunksOf(Buffer.from('\n{"a":1}\n\r\n{"b":2}\n'), [3])))).toEqual([
      '{"a":1}',
      '{"b":2}',
    ]);
  });

  it('refuses a stream that ends inside a line', async () => {
    await expect(collect(readLines(chunksOf(Buffer.from('{"a":1}\n{"b'), [4])))).rejects.toThrow(WatchDecodeError);
  });

  it('refuses a line beyond the limit', async () => {
    await expect(collect(readLines(chunksOf(Buffer.alloc(100, 'x'), [10]), 50))).rejects.toThrow(
      /larger than 50 bytes/,
    );
  });

  it('reads a line of several megabytes in many chunks', async () => {
    const long = 'é'.repeat(2_000_000);
    expect(await collect(readLines(chunksOf(Buffer.from(`${long}\n`), [65_537])))).toEqual([long]);
  });
});
