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

/** Controllers that died in a life leave behind what they held; a player that is replaced now and then does not drown in it. */
const seedsPerPlayer = 50;

/** Plays one seed after the other in several processes. */
export async function playMany({ first, count, workers, onOutcome }: Many): Promise<void> {
  let next = first;
  const end = first + count;
  await Promise.all(
    Array.from({ length: Math.min(workers, count) }, async () => {
      while (next < end) {
        const player = startPlayer();
        try {
          for (let played = 0; played < seedsPerPlayer && next < end; played++) onOutcome(await ask(player, next++));
        } finally {
          player.kill();
        }
      }
    }),
  );
}

function startPlayer(): ChildProcess {
  return fork(fileURLToPath(new URL('player.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    // what a test runner asks of its own processes is not meant for these
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/** Most take a few seconds. */
const patienceMs = 5 * 60_000;

function ask(player: ChildProcess, seed: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`seed ${seed}: its player ${why}`));
    const onExit = (code: number | null): void => fail(`ended with code ${code}`);
    const timer = setTimeout(() => fail(`is still at it after ${patienceMs / 60_000} minutes`), patienceMs);
    player.once('exit', onExit);
    player.once('message', (message) => {
      clearTimeout(timer);
      player.off('exit', onExit);
      resolve(message as Outcome);
    });
    player.send(seed);
  });
}
