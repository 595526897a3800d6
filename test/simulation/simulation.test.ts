import { describe, expect, it } from 'vitest';
import { play } from './play.ts';

/** CI plays these; more by `npm run simulate -- --seeds 10000`. */
const seeds = Number(process.env['CAPSTAN_SIMULATION_SEEDS'] ?? 300);
const first = Number(process.env['CAPSTAN_SIMULATION_FIRST'] ?? 1);
const perTest = 10;

describe('whole installations on simulated time, with crashes, faults and users who change their minds', () => {
  const batches = Array.from({ length: Math.ceil(seeds / perTest) }, (_, index) => first + index * perTest);
  it.each(batches)(`keep every promise: ${perTest} seeds from %i on`, async (from) => {
    for (let seed = from; seed < Math.min(from + perTest, first + seeds); seed++) {
      const { problem, story } = await play(seed);
      expect(
        problem,
        `replay with: npm run simulate -- --seed ${seed}\n${story.join('\n')}\n${problem}`,
      ).toBeUndefined();
    }
  });
});
