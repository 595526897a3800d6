import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './play.ts';

export interface Many {
  readonly first: number;
  readonly count: number;
  /** processes that play at the same time */
  readonly workers: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Plays one seed after the other in several processes. */
export async function playMany({ first, count, workers, onOutcome }: Many): Promise<void> {
  let next = first;
  const end = first + count;
  await Promise.all(
    Array.from({ length: Math.min(workers, count) }, async () => {
      const player = fork(fileURLToPath(new URL('player.ts', import.meta.url)), {
        execArgv: ['--import', 'tsx'],
        // what a test runner asks of its own processes is not meant for these
        env: { ...process.env, NODE_OPTIONS: '' },
      });
      try {
        for (let seed = next++; seed < end; seed = next++) onOutcome(await ask(player, seed));
      } finally {
        player.kill();
      }
    }),
  );
}

function ask(player: ChildProcess, seed: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`the player of seed ${seed} ended with code ${code}`));
    player.once('exit', onExit);
    player.once('message', (message) => {
      player.off('exit', onExit);
      resolve(message as Outcome);
    });
    player.send(seed);
  });
}
