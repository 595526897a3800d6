import { describe, expect, it } from 'vitest';
import { WritePacer } from './write-pacer.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('WritePacer', () => {
  it('writes a few at once', () => {
    const pacer = new WritePacer();
    const done: number[] = [];
    for (let i = 0; i < 10; i++) pacer.run(() => done.push(i));
    expect(done).toHaveLength(10);
  });

  it('spreads many over turns, in order, and leaves none behind', async () => {
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

  it('lets writes asked for by a write wait their turn', async () => {
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
