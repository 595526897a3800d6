import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../src/machinery/index.ts';
import { CrashModel } from './model.ts';

const rounds = Number(process.env['CAPSTAN_CRASH_ROUNDS'] ?? 120);
const seed = Number(process.env['CAPSTAN_SEED'] ?? Date.now() % 1_000_000);

// Inside of the package, so that the bundle finds its native module.
const bundle = new URL(`../../../node_modules/.cache/capstan/store-writer-${process.pid}.mjs`, import.meta.url)
  .pathname;
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'capstan-crash-'));
  await build({
    entryPoints: [new URL('writer.ts', import.meta.url).pathname],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(bundle, { force: true });
});

interface Run {
  code: number | null;
  signal: NodeJS.Signals | null;
  errors: string;
}

/** Runs the writer until it exits or `onLine` kills it. */
async function run(
  directory: string,
  args: [seed: string, mode: 'write' | 'read'],
  onLine: (line: string, child: ChildProcess) => void,
  onSpawn?: (child: ChildProcess) => void,
): Promise<Run> {
  const child = spawn(process.execPath, [bundle, directory, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  onSpawn?.(child);
  const ended = new Promise<Run>((resolve) => child.once('close', (code, signal) => resolve({ code, signal, errors })));
  // The kill may truncate the last line, and readline would return it as a complete one.
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) onLine(line, child);
  });
  return ended;
}

async function crashRound(directory: string, model: CrashModel, random: Random, round: number): Promise<void> {
  model.restart();
  let failure: unknown;
  const killsAtStart = random.next() < 0.15;
  let linesLeft = Math.floor(random.next() ** 2 * 600) + 1;
  let opened = false;
  const result = await run(
    directory,
    [String(round), 'write'],
    (line, child) => {
      try {
        model.take(line);
        if (line.startsWith('opened')) opened = true;
      } catch (error) {
        failure ??= error;
        child.kill('SIGKILL');
      }
      if (opened && --linesLeft === 0) child.kill('SIGKILL');
    },
    (child) => {
      if (killsAtStart) setTimeout(() => child.kill('SIGKILL'), random.next() * 150);
    },
  );
  if (failure) throw failure;
  expect(result, result.errors).toMatchObject({ signal: 'SIGKILL' });
}

describe(`a store whose process is killed (CAPSTAN_SEED=${seed})`, () => {
  it(`loses nothing acknowledged and invents nothing in ${rounds} rounds`, { timeout: 300_000 }, async () => {
    const random = seededRandom(seed);
    const directory = join(root, 'killed');
    const model = new CrashModel();
    for (let round = 0; round < rounds; round++) await crashRound(directory, model, random, round);
    model.restart();
    const { code, errors } = await run(directory, ['0', 'read'], (line) => model.take(line));
    expect(code, errors).toBe(0);
    expect(model.acknowledged).toBeGreaterThan(rounds);
  });
});

describe(`a store whose file was damaged (CAPSTAN_SEED=${seed})`, () => {
  it('is refused or read as it was, never read as something else', { timeout: 300_000 }, async () => {
    const random = seededRandom(seed + 1);
    const original = join(root, 'to-damage');
    let lines = 0;
    await run(original, ['1', 'write'], (_line, child) => {
      if (++lines === 4000) child.kill('SIGKILL');
    });
    const read = async (directory: string): Promise<Run & { found: string }> => {
      const found: string[] = [];
      const result = await run(directory, ['0', 'read'], (line) => found.push(line));
      return { ...result, found: found.join('\n') };
    };
    const sound = await read(original);
    expect(sound.code, sound.errors).toBe(0);

    const data = readFileSync(join(original, 'data.mdb'));
    const outcomes = { refused: 0, unharmed: 0, died: 0 };
    for (let i = 0; i < 40; i++) {
      const directory = await mkdtemp(join(root, 'damaged-'));
      const changed = Buffer.from(data);
      const at = Math.floor(random.next() * changed.length);
      const length = i % 2 === 0 ? 1 : Math.min(512, changed.length - at);
      for (let byte = at; byte < at + length; byte++) changed[byte]! ^= 1 + Math.floor(random.next() * 255);
      writeFileSync(join(directory, 'data.mdb'), changed);
      let result = await read(directory);
      if (result.signal !== null) {
        // LMDB crashed on the damage. The next start must report it instead of crashing too.
        outcomes.died++;
        result = await read(directory);
      }
      expect(result.signal, `byte ${at}`).toBeNull();
      if (result.code === 0) {
        expect(result.found, `byte ${at}`).toBe(sound.found);
        outcomes.unharmed++;
      } else {
        expect(result.errors, `byte ${at}`).toMatch(/CAP_STORE_(DAMAGED|TOO_NEW)/);
        outcomes.refused++;
      }
      await rm(directory, { recursive: true });
    }
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});
