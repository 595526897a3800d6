import { describe, expect, it } from 'vitest';
import { WritePacer } from './write-pacer.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('WritePacer', () => {
  it('runs a few writes at once', () => {
    const pacer = new WritePacer();
    const done: number[] = [];
    for (let i = 0; i < 10; i++) pacer.run(() => done.push(i));
    expect(done).toHaveLength(10);
  });

  it('spreads many writes over turns in order, and runs all of them', async () => {
    const pacer = new WritePacer();
    const done: number[] = [];
    for (let i = 0; i < 1000; i++) pacer.run(() => done.push(i));
    const inFirstTurn = done.length;
    expect(inFirstTurn).toBeLessThan(200);
    for (let i = 0; i < 1000 && done.length < 1000; i++) {
      const before = done.length;
      await turn();
      expect(done.length - before).toBeLessThan(200);
    }
    expect(done).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });

  it('delays writes that are requested by a write', async () => {
    const pacer = new WritePacer();
    let depth = 0;
    const again = (): void => {
      if (++depth < 300) pacer.run(again);
    };
    pacer.run(again);
    expect(depth).toBeLessThan(200);
    while (depth < 300) await turn();
    expect(depth).toBe(300);
  });
});
