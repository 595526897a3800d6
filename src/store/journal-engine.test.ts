import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { storeConformance } from './conformance.ts';
import { journalEngine } from './journal-engine.ts';
import type { Engine, EngineWrite } from './types.ts';

const root = await mkdtemp(join(tmpdir(), 'capstan-journal-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const files = new WeakMap<Engine, string>();
let made = 0;
const openAt = async (file: string): Promise<Engine> => {
  const engine = await journalEngine({ file });
  files.set(engine, file);
  return engine;
};
const newFile = (): string => join(root, String(made++), 'store.journal');

storeConformance('journal', {
  create: () => openAt(newFile()),
  reopen: (closed) => openAt(files.get(closed)!),
});

describe('a journal', () => {
  const put = (key: string, revision: number, text: string): EngineWrite => ({
    type: 'put',
    key,
    revision,
    createRevision: revision,
    value: [text],
  });
  const contentOf = async (file: string): Promise<{ revision: number; content: Record<string, string> }> => {
    const engine = await journalEngine({ file });
    const content: Record<string, string> = {};
    const { revision } = await engine.load((key, bytes) => {
      content[key] = Buffer.from(bytes).toString();
    });
    await engine.close();
    return { revision, content };
  };
  const written = async (...batches: EngineWrite[][]): Promise<string> => {
    const file = newFile();
    const engine = await journalEngine({ file });
    await engine.load(() => {});
    for (const batch of batches) await engine.commit(batch);
    await engine.close();
    return file;
  };

  it('has every whole commit before a crash at any byte, and accepts more', async () => {
    const file = await written(
      [put('/a', 1, 'one'), put('/b', 2, 'zwei')],
      [{ type: 'delete', key: '/a', revision: 3 }],
      [put('/b', 4, 'drei'), put('/ü', 5, 'x'.repeat(40))],
    );
    const whole = await readFile(file);
    const states = [
      { revision: 0, content: {} },
      { revision: 2, content: { '/a': 'one', '/b': 'zwei' } },
      { revision: 3, content: { '/b': 'zwei' } },
      { revision: 5, content: { '/b': 'drei', '/ü': 'x'.repeat(40) } },
    ];
    let at = 0;
    for (let length = 0; length <= whole.length; length++) {
      await writeFile(file, whole.subarray(0, length));
      const found = await contentOf(file);
      if (found.revision !== states[at]!.revision) at++;
      expect(found, `cut at ${length}`).toEqual(states[at]);
    }
    expect(at).toBe(3);
    await writeFile(file, whole.subarray(0, -1));
    const engine = await journalEngine({ file });
    await engine.load(() => {});
    await engine.commit([put('/c', 9, 'later')]);
    await engine.close();
    expect(await contentOf(file)).toEqual({ revision: 9, content: { '/b': 'zwei', '/c': 'later' } });
  });

  it('reports damage before its end instead of forgetting', async () => {
    const file = await written([put('/a', 1, 'one')], [put('/b', 2, 'two')]);
    const bytes = await readFile(file);
    bytes[bytes.indexOf('one')]! ^= 1;
    await writeFile(file, bytes);
    await expect(contentOf(file)).rejects.toThrow(/is damaged: the commit at byte 17 fails its checksum/);
    await writeFile(file, 'something else entirely');
    await expect(contentOf(file)).rejects.toThrow(/it has another header/);
  });

  it('continues before its last blocks when they were reserved and never written', async () => {
    const file = await written([put('/a', 1, 'one')]);
    await writeFile(file, Buffer.concat([await readFile(file), Buffer.alloc(4096)]));
    expect(await contentOf(file)).toEqual({ revision: 1, content: { '/a': 'one' } });
  });

  it('does not grow with overwritten values and keeps the revisions of the latest deletions', async () => {
    const file = newFile();
    const engine = await journalEngine({ file });
    await engine.load(() => {});
    const text = 'v'.repeat(10_000);
    for (let revision = 1; revision <= 400; revision++) await engine.commit([put(`/k${revision % 5}`, revision, text)]);
    await engine.commit([{ type: 'delete', key: '/k0', revision: 401 }]);
    expect((await stat(file)).size).toBeLessThan(1024 * 1024 + 60_000);
    await engine.close();
    const { revision, content } = await contentOf(file);
    expect(revision).toBe(401);
    expect(Object.keys(content).sort()).toEqual(['/k1', '/k2', '/k3', '/k4']);
  });

  it('returns whatever was committed unchanged', async () => {
    const write = fc.record({ key: fc.string({ minLength: 1, maxLength: 6 }), text: fc.option(fc.string()) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(write, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), async (batches) => {
        const expected = new Map<string, string>();
        let revision = 0;
        const writes = batches.map((batch) =>
          batch.map(({ key, text }): EngineWrite => {
            revision++;
            if (text === null) expected.delete(`/${key}`);
            else expected.set(`/${key}`, text);
            return text === null ? { type: 'delete', key: `/${key}`, revision } : put(`/${key}`, revision, text);
          }),
        );
        const found = await contentOf(await written(...writes));
        expect(found.revision).toBe(revision);
        expect(new Map(Object.entries(found.content))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});
