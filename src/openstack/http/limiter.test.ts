import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

describe('createLimiter', () => {
  it('never admits more than the limit, and admits everybody in the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }),
        async (limit, lengths) => {
          const limiter = createLimiter(limit);
          let running = 0;
          let most = 0;
          let done = 0;
          await Promise.all(
            lengths.map(async (turns) => {
              const leave = await limiter.enter();
              most = Math.max(most, ++running);
              for (let i = 0; i < turns; i++) await Promise.resolve();
              running--;
              done++;
              leave();
              leave();
            }),
          );
          expect(most).toBeLessThanOrEqual(limit);
          expect(done).toBe(lengths.length);
          expect(limiter.waiting).toBe(0);
        },
      ),
    );
  });

  it('releases a waiting caller when its signal aborts and keeps the place for the next', async () => {
    const limiter = createLimiter(1);
    const leave = await limiter.enter();
    const stop = new AbortController();
    const waiting = limiter.enter(stop.signal);
    const next = limiter.enter();
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    leave();
    await expect(next).resolves.toBeTypeOf('function');
  });
});
