import { afterEach, describe, expect, it } from 'vitest';
import { hurriedClock, type InProcessServer, startInProcess } from '../../support/rough/in-process-server.ts';
import { http1Client } from '../../support/rough/wire.ts';
import { inherited, unreadableCollections } from './invariants.ts';
import { prepareNamespaces, runFuzz, summary } from './run.ts';

/** CAPSTAN_FUZZ_SEED and CAPSTAN_FUZZ_REQUESTS replay a failure or set a longer run. */
const seed = Number(process.env['CAPSTAN_FUZZ_SEED'] ?? 1);
const requests = process.env['CAPSTAN_FUZZ_REQUESTS'];
const oneByOne = Number(requests ?? 20_000);
const together = Number(requests ?? 31_000);
const patienceMs = requests === undefined ? 240_000 : 3_600_000;

/** Speed-up of the server's timers (for example waiting for a revision, or the end of a watch). */
const hurry = 200;

let server: InProcessServer | undefined;
const rejections: unknown[] = [];
const onRejection = (error: unknown): void => void rejections.push(error);

afterEach(async () => {
  process.off('unhandledRejection', onRejection);
  await server?.stop();
  server = undefined;
});

async function fuzz(options: { engine: 'memory' | 'disk'; count: number; inFlight: number }): Promise<void> {
  const before = inherited();
  rejections.length = 0;
  process.on('unhandledRejection', onRejection);
  server = await startInProcess({ engine: options.engine, clock: hurriedClock(hurry) });
  await prepareNamespaces(server);
  const report = await runFuzz(server, { seed, from: 0, count: options.count, inFlight: options.inFlight });
  console.log(summary(report));
  expect(report.problems.join('\n\n')).toBe('');
  expect(rejections).toEqual([]);
  expect(report.byStatus.get(201) ?? 0, 'requests that were right').toBeGreaterThan(report.sent / 100);
  const client = http1Client(server.admin);
  expect(await unreadableCollections(server, client)).toEqual([]);
  client.close();
  expect(inherited()).toBe(before);
}

describe(`HTTP requests made from seed ${seed}`, () => {
  it(
    'get a fitting answer, and refused ones leave nothing behind',
    () => fuzz({ engine: 'memory', count: oneByOne, inFlight: 1 }),
    patienceMs,
  );

  it(
    'do no harm when many come at once on the durable store',
    () => fuzz({ engine: 'disk', count: together, inFlight: 12 }),
    patienceMs,
  );
});
