import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { playMany } from './many.ts';

/** So many are played here; more by `npm run simulate -- --seeds 10000`. */
const seeds = Number(process.env['CAPSTAN_SIMULATION_SEEDS'] ?? 300);
const first = Number(process.env['CAPSTAN_SIMULATION_FIRST'] ?? 1);

describe('whole installations on simulated time, with crashes, faults and users who change their minds', () => {
  it(`keep every promise in ${seeds} lives`, { timeout: 30 * 60_000 }, async () => {
    const failures: string[] = [];
    let played = 0;
    await playMany({
      first,
      count: seeds,
      workers: availableParallelism(),
      onOutcome({ seed, problem, story }) {
        played++;
        if (problem === undefined) return;
        failures.push(`replay with: npm run simulate -- --seed ${seed}\n${story.join('\n')}\n${problem}`);
      },
    });
    expect(failures).toEqual([]);
    expect(played).toBe(seeds);
  });
});
