import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ArchiveEntry, type ArchiveSecret, isArchive, readArchive, writeArchive } from './index.ts';

const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) };

function entry(path: string, content: Buffer, size = content.length): ArchiveEntry {
  return {
    path,
    size,
    async *content() {
      for (let offset = 0; offset < content.length; offset += 300_000) yield content.subarray(offset, offset + 300_000);
    },
  };
}

async function contentOf({ content }: ArchiveEntry): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('an archive', () => {
  let directory = '';
  let file = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-archive-'));
    file = join(directory, 'a');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const readAll = async (used: ArchiveSecret = secret): Promise<Map<string, Buffer>> => {
    const found = new Map<string, Buffer>();
    for await (const one of readArchive(file, used)) found.set(one.path, await contentOf(one));
    return found;
  };

  // Sizes around the chunk size, where a last chunk could be mistaken for an inner one.
  it.each([0, 1, 1024 * 1024 - 24, 1024 * 1024 - 19, 1024 * 1024, 3_000_000])(
    'returns %i bytes unchanged',
    async (size) => {
      const content = randomBytes(size);
      await writeArchive(file, secret, [entry('a/b', content), entry('c', Buffer.from('x'))]);
      expect(await isArchive(file)).toBe(true);
      const found = await readAll();
      expect([...found.keys()]).toEqual(['a/b', 'c']);
      expect(found.get('a/b')?.equals(content)).toBe(true);
      // The content is not in the file in clear text.
      if (size > 100) expect((await readFile(file)).includes(content.subarray(0, 32))).toBe(false);
    },
  );

  it('opens only with its passphrase', async () => {
    const right: ArchiveSecret = { kind: 'passphrase', passphrase: 'correct horse' };
    await writeArchive(file, right, [entry('a', Buffer.from('x'))]);
    expect((await readAll(right)).size).toBe(1);
    const wrong: ArchiveSecret = { kind: 'passphrase', passphrase: 'correct Horse' };
    await expect(readAll(wrong)).rejects.toMatchObject({ code: 'CAP_ARCHIVE_SECRET' });
    await expect(readAll(secret)).rejects.toThrow('the archive was sealed with a passphrase');
  });

  it('skips entries nobody reads', async () => {
    await writeArchive(file, secret, [entry('a', randomBytes(2_000_000)), entry('b', Buffer.from('x'))]);
    const seen: string[] = [];
    for await (const { path } of readArchive(file, secret)) seen.push(path);
    expect(seen).toEqual(['a', 'b']);
  });

  it('is reported as damaged wherever it is changed or cut off', async () => {
    await writeArchive(file, secret, [entry('a', randomBytes(2_500_000))]);
    const whole = await readFile(file);
    const headerEnd = 21 + whole.readUInt32BE(17);
    for (const at of [headerEnd + 1, headerEnd + 10, 1_100_000, whole.length - 1]) {
      const changed = Buffer.from(whole);
      changed[at] = changed[at]! ^ 1;
      await writeFile(file, changed);
      await expect(readAll(), `changed at ${at}`).rejects.toMatchObject({ code: 'CAP_BACKUP_DAMAGED' });
    }
    const secondChunk = headerEnd + 4 + whole.readUInt32BE(headerEnd);
    for (const length of [10, headerEnd - 3, headerEnd, secondChunk, secondChunk + 4, whole.length - 1]) {
      await writeFile(file, whole.subarray(0, length));
      await expect(readAll(), `cut at ${length}`).rejects.toMatchObject({
        code: expect.stringMatching(/^CAP_BACKUP_/),
      });
    }
    await writeFile(file, Buffer.concat([whole, Buffer.from('more')]));
    await expect(readAll()).rejects.toMatchObject({ code: 'CAP_BACKUP_DAMAGED' });
    const newer = Buffer.from(whole);
    newer[16] = 2;
    await writeFile(file, newer);
    await expect(readAll()).rejects.toMatchObject({ code: 'CAP_BACKUP_TOO_NEW' });
  });

  it.each(['../a', '/a', 'a//b', 'a/../b', ''])('refuses paths outside of it: %j', async (path) => {
    await writeArchive(file, secret, [entry(path, Buffer.from('x'))]);
    await expect(readAll()).rejects.toThrow('outside of itself');
  });

  it('is written as a whole or not at all', async () => {
    await expect(writeArchive(file, secret, [entry('a', Buffer.from('xy'), 3)])).rejects.toThrow('changed while');
    expect(await readdir(directory)).toEqual([]);
  });

  it('refuses excessive key derivation costs in a foreign file', async () => {
    await writeArchive(file, { kind: 'passphrase', passphrase: 'x' }, []);
    const text = (await readFile(file)).toString('latin1').replace('"N":131072', '"N":999999');
    await writeFile(file, Buffer.from(text, 'latin1'));
    await expect(readAll({ kind: 'passphrase', passphrase: 'x' })).rejects.toMatchObject({
      code: 'CAP_BACKUP_DAMAGED',
    });
  });
});
