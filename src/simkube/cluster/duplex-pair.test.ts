import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { duplexPair } from './duplex-pair.ts';

describe('a connection inside the process', () => {
  it('never calls a reader while the writer still writes', async () => {
    const [near, far] = duplexPair();
    let isWriting = false;
    const readers: boolean[] = [];
    // Both ends answer at once, like two ends of HTTP/2.
    far.on('data', (chunk: Buffer) => {
      readers.push(isWriting);
      isWriting = true;
      far.write(chunk);
      isWriting = false;
    });
    near.on('data', () => readers.push(isWriting));
    for (const word of ['one', 'two', 'three']) {
      isWriting = true;
      near.write(word);
      isWriting = false;
    }
    near.end();
    await once(far, 'end');
    far.end();
    await once(near, 'end');
    expect(readers).toHaveLength(6);
    expect(readers).not.toContain(true);
  });

  it('delivers what was written before its writer was destroyed', async () => {
    const [near, far] = duplexPair();
    near.write('last words');
    near.destroy();
    expect(await text(far)).toBe('last words');
  });

  it('holds a writer back until the reader takes what is there', async () => {
    const [near, far] = duplexPair();
    const part = Buffer.alloc(64 * 1024, 'x');
    const parts = 10;
    for (let sent = 0; sent < parts; sent++) near.write(part);
    near.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(near.writableLength).toBeGreaterThan(part.length);
    expect(await buffer(far)).toHaveLength(parts * part.length);
    expect(near.writableLength).toBe(0);
  });

  it('releases a writer whose reader is gone', async () => {
    const [near, far] = duplexPair();
    const part = Buffer.alloc(256 * 1024);
    near.write(part);
    await new Promise((resolve) => setImmediate(resolve));
    far.destroy();
    await once(near.resume(), 'end');
    near.on('error', () => {});
    const failure = new Promise((resolve) => near.write(part, resolve));
    expect(await failure).toBeInstanceOf(Error);
  });
});
