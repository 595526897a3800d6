// Plays simulated installations.
//
//   npm run simulate                      100 seeds, on all cores
//   npm run simulate -- --seeds 10000     more
//   npm run simulate -- --seed 42         one, and tells its story
//   npm run simulate -- --first 5000      begin elsewhere
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Outcome } from './play.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
});

if (process.send) {
  const { play } = await import('./play.ts');
  process.on('message', async (seed: number) => process.send!(await play(seed)));
} else if (values.seed !== undefined) {
  const { play } = await import('./play.ts');
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const { problem, simulatedSeconds } = await play(Number(values.seed), say);
  say(problem ?? `every promise was kept for ${simulatedSeconds} simulated s`);
  process.exit(problem === undefined ? 0 : 1);
} else {
  process.exit((await playMany()) === 0 ? 0 : 1);
}

/** Spreads the seeds over processes; answers how many failed. */
async function playMany(): Promise<number> {
  const first = Number(values.first);
  const end = first + Number(values.seeds);
  const began = performance.now();
  let next = first;
  let done = 0;
  const failed: number[] = [];
  await Promise.all(
    Array.from({ length: Number(values.workers) }, async () => {
      const worker = fork(fileURLToPath(import.meta.url), { execArgv: process.execArgv });
      for (let seed = next++; seed < end; seed = next++) {
        const outcome = await new Promise<Outcome>((resolve, reject) => {
          worker.once('message', (message) => resolve(message as Outcome));
          worker.once('exit', (code) => reject(new Error(`the player of seed ${seed} ended with ${code}`)));
          worker.send(seed);
        });
        worker.removeAllListeners('exit');
        done++;
        if (outcome.problem === undefined) continue;
        failed.push(seed);
        process.stdout.write(
          `seed ${seed} failed: ${outcome.problem.split('\n')[0]}\n  replay: npm run simulate -- --seed ${seed}\n`,
        );
      }
      worker.kill();
    }),
  );
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(
    `${done} seeds in ${seconds} s, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}\n`,
  );
  return failed.length;
}
