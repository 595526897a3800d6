import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Outcome } from './play.ts';

/** What is played: control planes on machines, in Pods, on machines and made from a class, on machines of rke2, or clusters that manage themselves. */
export type Lives = 'machines' | 'hosted' | 'topology' | 'rke2' | 'lattice';

export interface Many {
  readonly first: number;
  readonly count: number;
  readonly lives: Lives;
  /** all of them with HTTP between controllers and management API, not only some */
  readonly overHttp: boolean;
  /** processes that play at the same time */
  readonly workers: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Controllers that died in a life leave behind what they held; a player that is replaced now and then does not drown in it. */
const seedsPerPlayer = 50;

/** Plays one seed after the other in several processes. */
export async function playMany({ first, count, lives, overHttp, workers, onOutcome }: Many): Promise<void> {
  let next = first;
  const end = first + count;
  const directory = await makeDirectory();
  try {
    const program = await bundle(directory);
    await Promise.all(
      Array.from({ length: Math.min(workers, count) }, async () => {
        while (next < end) {
          const player = startPlayer(program);
          const ended = once(player, 'exit');
          try {
            for (let played = 0; played < seedsPerPlayer && next < end; played++) {
              const seed = next++;
              const answer = await ask(player, { seed, lives, overHttp });
              onOutcome('lost' in answer ? { seed, problem: answer.lost, story: [], simulatedSeconds: 0 } : answer);
              // another one goes on with the next
              if ('lost' in answer) break;
            }
          } finally {
            player.kill('SIGKILL');
            // whoever measures us sees the time of those we waited for
            await ended;
          }
        }
      }),
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Among the installed packages, where programs made of ours find them. */
async function makeDirectory(): Promise<string> {
  const caches = join(root, 'node_modules', '.cache');
  await mkdir(caches, { recursive: true });
  return await mkdtemp(join(caches, 'capstan-simulation-'));
}

/** One file starts in a fraction of the time hundreds of modules need, which every player would spend anew. */
async function bundle(directory: string): Promise<string> {
  const outfile = join(directory, 'player.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('player.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
  return outfile;
}

function startPlayer(program: string): ChildProcess {
  return fork(program, {
    // objects die young here, by the million; most code runs too few times to be worth more than a quick compilation
    execArgv: ['--max-semi-space-size=64'],
    // what a test runner asks of its own processes is not meant for these
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/** Most take a few seconds. */
const patienceMs = 5 * 60_000;

/** What a player has to say of a seed, or how it was lost over it. */
function ask(
  player: ChildProcess,
  asked: { seed: number; lives: Lives; overHttp: boolean },
): Promise<Outcome | { lost: string }> {
  return new Promise((resolve) => {
    const end = (answer: Outcome | { lost: string }): void => {
      clearTimeout(timer);
      player.removeAllListeners('message').off('exit', onExit);
      resolve(answer);
    };
    const onExit = (code: number | null, signal: string | null): void =>
      end({ lost: `its player ended with ${signal ?? `code ${code}`}` });
    const timer = setTimeout(
      () => end({ lost: `its player is still at it after ${patienceMs / 60_000} minutes` }),
      patienceMs,
    );
    player.once('exit', onExit);
    player.once('message', (message) => end(message as Outcome));
    player.send(asked);
  });
}
