import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Outcome } from './play.ts';

/**
 * What is simulated: control planes on machines, in Pods, on machines from a ClusterClass, on machines of rke2, or
 * self-managed clusters.
 */
export type Lives = 'machines' | 'hosted' | 'topology' | 'rke2' | 'lattice';

export interface Many {
  readonly first: number;
  readonly count: number;
  readonly lives: Lives;
  /** all runs use HTTP between controllers and management API, not only some */
  readonly overHttp: boolean;
  /** number of parallel processes */
  readonly workers: number;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Killed controllers leak memory, so a player process is replaced after this number of seeds. */
const seedsPerPlayer = 50;

/** Runs seeds in several processes. */
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
              // Another process continues with the next seed.
              if ('lost' in answer) break;
            }
          } finally {
            player.kill('SIGKILL');
            // The time of finished child processes counts for measurements.
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

/** Inside node_modules, so that the bundle finds the installed packages. */
async function makeDirectory(): Promise<string> {
  const caches = join(root, 'node_modules', '.cache');
  await mkdir(caches, { recursive: true });
  return await mkdtemp(join(caches, 'capstan-simulation-'));
}

/** One file loads much faster than hundreds of modules, which every player would load again. */
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
    // The simulation creates millions of short-lived objects, so the young generation is large.
    execArgv: ['--max-semi-space-size=64'],
    // Removes options that a test runner sets for its own processes.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/** Most take a few seconds. */
const patienceMs = 5 * 60_000;

/** Returns a player's result for a seed, or how the player was lost. */
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
