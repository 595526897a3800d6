import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LogBuffer, logFiles, type RunningContainer, type SimulatedProgram } from '../../simkube/index.ts';
import { container, type HostWorld, hostWorld, isReady, untilStopped } from '../testing/host-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'capstan-pod-logs-'));
let world: HostWorld;
beforeAll(async () => {
  world = await hostWorld({ logDirectory: join(directory, 'logs') });
});
afterAll(async () => {
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

let runs = 0;
const counts: SimulatedProgram = async ({ signal, log }) => {
  log(`run ${runs++}`);
  await untilStopped(signal);
  return 0;
};
const ends: SimulatedProgram = async ({ log }) => {
  log('all done');
  return 0;
};

it('keeps container logs from before the host was killed until their Pod is deleted', async () => {
  world.use({ app: counts, job: ends });
  await world.createPod('p', { containers: [container()] });
  await world.createPod('q', { restartPolicy: 'Never', containers: [{ ...container(), image: 'job' }] });
  const { metadata } = await world.podUntil('p', isReady);
  await world.podUntil('q', ({ status }) => status?.phase === 'Succeeded');
  const first = await world.log('p');
  expect(first).toMatch(/^run /);
  await world.restart();
  await world.podUntil('p', (pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(pod));
  expect(await world.log('p')).not.toBe(first);
  expect(await world.log('p', { previous: true })).toBe(first);
  expect(await world.log('q')).toBe('all done\n');
  expect(readdirSync(join(directory, 'logs'))).toContain(metadata.uid);
  await world.clear();
  await expect.poll(() => readdirSync(join(directory, 'logs'))).toEqual([]);
});

it('keeps the latest lines of a busy container in a file that does not grow', async () => {
  const place = join(directory, 'bounded');
  const files = logFiles(place);
  const buffer = new LogBuffer();
  const running = {
    logs: () => buffer.lines(),
    onLine: (callback: Parameters<LogBuffer['onLine']>[0]) => buffer.onLine(callback),
  } as Partial<RunningContainer> as RunningContainer;
  const run = { uid: 'u', container: 'c', restart: 0 };
  files.keep(run, running);
  for (let line = 0; line < 4_000; line++) {
    buffer.add(1_000, `line ${line} ${'x'.repeat(90)}`);
    if (line % 500 === 0) await files.settled();
  }
  await files.settled();
  expect(statSync(join(place, 'u', 'c.0.log')).size).toBeLessThanOrEqual(128 * 1024);
  expect(files.read(run)?.at(-1)).toEqual({ at: 1_000, text: `line 3999 ${'x'.repeat(90)}` });
  for (const restart of [1, 2]) files.keep({ ...run, restart }, running);
  await files.settled();
  expect(readdirSync(join(place, 'u')).sort()).toEqual(['c.1.log', 'c.2.log']);
  files.keepOnly(new Set());
  await files.settled();
  expect(readdirSync(place)).toEqual([]);
});
