import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSealed, rotateSealingKey, secretSealer } from './secret-sealer.ts';

let directory: string;
let keyFile: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-seal-'));
  keyFile = join(directory, 'keys', 'encryption.keys');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const plain = Buffer.from('{"password":"hunter2"}');

describe('secretSealer', () => {
  it('creates a key file readable by its owner only, and reuses it', async () => {
    const first = await secretSealer({ keyFile });
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    const second = await secretSealer({ keyFile });
    expect(second.keyId).toBe(first.keyId);
    expect(Buffer.from(second.open('k', first.seal('k', plain)))).toEqual(plain);
  });

  it('opens what it sealed, and the sealed bytes reveal nothing', async () => {
    const sealer = await secretSealer({ keyFile });
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ minLength: 8, maxLength: 64 }), (key, bytes) => {
        const sealed = Buffer.from(sealer.seal(key, bytes));
        expect(isSealed(sealed)).toBe(true);
        expect(sealed.includes(Buffer.from(bytes))).toBe(false);
        expect(Buffer.from(sealer.open(key, sealed))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 50 },
    );
  });

  it('seals the same value differently every time', async () => {
    const sealer = await secretSealer({ keyFile });
    expect(sealer.seal('k', plain)).not.toEqual(sealer.seal('k', plain));
  });

  it('detects a changed byte and a value moved to another key', async () => {
    const sealer = await secretSealer({ keyFile });
    const sealed = Buffer.from(sealer.seal('k', plain));
    expect(() => sealer.open('other', sealed)).toThrow(expect.objectContaining({ code: 'CAP_SEALED_VALUE_DAMAGED' }));
    for (let i = 0; i < sealed.length; i++) {
      const broken = Buffer.from(sealed);
      broken[i]! ^= 1;
      expect(() => sealer.open('k', broken)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^CAP_SEAL/) }),
      );
    }
    expect(() => sealer.open('k', sealed.subarray(0, 20))).toThrow(
      expect.objectContaining({ code: 'CAP_SEALED_VALUE_DAMAGED' }),
    );
  });

  it('distinguishes plain values from sealed ones', () => {
    expect(isSealed(plain)).toBe(false);
    expect(isSealed(Buffer.alloc(0))).toBe(false);
  });

  it('seals with the new key after rotation and still opens older values', async () => {
    const before = await secretSealer({ keyFile });
    const old = before.seal('k', plain);
    const id = await rotateSealingKey({ keyFile });
    const after = await secretSealer({ keyFile });
    expect(after.keyId).toBe(id);
    expect(id).not.toBe(before.keyId);
    expect(Buffer.from(after.open('k', old))).toEqual(plain);
    expect(() => before.open('k', after.seal('k', plain))).toThrow(
      expect.objectContaining({ code: 'CAP_SEALING_KEY_MISSING' }),
    );
  });

  it('names the key file and hints at the backup when the key is missing', async () => {
    const sealed = (await secretSealer({ keyFile })).seal('/secrets/a/b', plain);
    await rm(keyFile);
    const other = await secretSealer({ keyFile });
    expect(() => other.open('/secrets/a/b', sealed)).toThrow(
      expect.objectContaining({
        code: 'CAP_SEALING_KEY_MISSING',
        message: expect.stringContaining(keyFile),
        hint: expect.stringContaining('backup'),
      }),
    );
  });

  it.each(['', '# only a comment\n', 'id notbase64\n', 'short AAAA\n'])(
    'refuses a key file holding %j',
    async (content) => {
      await secretSealer({ keyFile });
      await writeFile(keyFile, content);
      await expect(secretSealer({ keyFile })).rejects.toMatchObject({ code: 'CAP_SEALING_KEY_INVALID' });
    },
  );

  it('writes a comment line and one line per key', async () => {
    await secretSealer({ keyFile });
    expect(await readFile(keyFile, 'utf8')).toMatch(/^#.*\n[0-9a-f]{16} [A-Za-z0-9+/]{43}=\n$/);
  });
});
