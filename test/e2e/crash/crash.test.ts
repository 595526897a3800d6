import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { dice, seedAt } from '../../support/rough/dice.ts';
import { bundleProgram, type Program } from '../../support/rough/program.ts';
import { http1Client, http2Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';
import { Follower } from './follower.ts';
import { Writer } from './load.ts';

/** CAPSTAN_CRASH_SEED replays a run, as far as crashes are reproducible. CAPSTAN_CRASH_ROUNDS sets its length. */
const seed = Number(process.env['CAPSTAN_CRASH_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['CAPSTAN_CRASH_ROUNDS'] ?? 25);
const namespace = 'default';
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

let program: Program;
let directory: string;

beforeAll(async () => {
  program = await bundleProgram();
  directory = await mkdtemp(join(tmpdir(), 'capstan-crash-'));
});

afterAll(async () => {
  await program.remove();
  await rm(directory, { recursive: true, force: true });
});

async function readAll(client: WireClient): Promise<{ objects: Map<string, JsonAnswer>; revision: number }> {
  const objects = new Map<string, JsonAnswer>();
  let revision = 0;
  for (const plural of ['configmaps', 'secrets']) {
    const { status, value } = await sendJson(client, 'GET', `/api/v1/namespaces/${namespace}/${plural}`);
    expect(status).toBe(200);
    for (const item of value.items) {
      objects.set(item.metadata.name, { ...item, kind: plural === 'secrets' ? 'Secret' : 'ConfigMap' });
    }
    revision = Number(value.metadata.resourceVersion);
  }
  return { objects, revision };
}

/** Resolves once this number of further writes is acknowledged, or on a slow machine after a timeout. */
async function writtenSome(writers: readonly Writer[], count: number): Promise<void> {
  const total = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
  const before = total();
  const deadline = performance.now() + 1500;
  while (total() - before < count && performance.now() < deadline) await delay(2);
}

describe(`a program that is killed while it is written to (CAPSTAN_CRASH_SEED=${seed})`, () => {
  it(
    `has lost nothing it acknowledged, ${rounds} times`,
    async () => {
      const roll = dice(seed);
      const writers = Array.from({ length: 6 }, (_, i) => new Writer(`w${i}`, namespace, dice(seedAt(seed, i))));
      const follower = new Follower(configMaps);
      let newest = 0;
      for (let round = 0; round < rounds; round++) {
        const server = await program.up(directory);
        const reader = http1Client(server.admin);
        const { objects, revision } = await readAll(reader);
        reader.close();
        expect(
          writers.flatMap((writer) => writer.check(objects)),
          `after crash ${round}`,
        ).toEqual([]);
        expect(revision, 'revisions never go back').toBeGreaterThanOrEqual(newest);
        await follower.connect(server.admin);
        const clients = writers.map((_, i) => (i % 2 === 0 ? http1Client(server.admin) : http2Client(server.admin)));
        let stopped = false;
        const running = Promise.all(writers.map((writer, i) => writer.run(clients[i]!, () => stopped)));
        // A failed run must fail here, not as an unhandled rejection.
        running.catch(() => {});
        await Promise.race([writtenSome(writers, roll.between(1, 250)), running]);
        const outcome = server.process.stop('SIGKILL');
        stopped = true;
        await Promise.all([running, outcome, follower.disconnected()]);
        for (const client of clients) client.close();
        newest = Math.max(...writers.map((writer) => writer.highest));
      }
      const server = await program.up(directory);
      const client = http1Client(server.admin);
      const { objects } = await readAll(client);
      expect(writers.flatMap((writer) => writer.check(objects))).toEqual([]);
      await follower.connect(server.admin);
      const wanted = new Map(
        [...objects.values()]
          .filter(({ kind }) => kind === 'ConfigMap')
          .map(({ metadata }) => [metadata.name as string, Number(metadata.resourceVersion)]),
      );
      await eventually(async () => expect(new Map([...follower.copy].sort())).toEqual(new Map([...wanted].sort())));
      expect(follower.problems).toEqual([]);
      client.close();
      const { code } = await server.process.stop('SIGTERM');
      expect(code).toBe(0);
      await follower.disconnected();
      const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
      console.log(`${rounds} crashes, ${acknowledged} writes acknowledged, watch expired ${follower.expired} times`);
      expect(acknowledged).toBeGreaterThan(rounds);
      const check = await program.run('store', 'check', '--data-dir', server.dataDirectory);
      expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('the store is sound') });
    },
    rounds * 12_000,
  );
});
