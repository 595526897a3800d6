import { describe, expect, it } from 'vitest';
import { oneAfterTheOther } from './one-after-the-other.ts';

/** Work that reads a value, takes time, and writes down what it read. */
function slowWork() {
  const state = { truth: 'starting', written: '', rounds: 0, atOnce: 0, mostAtOnce: 0 };
  const gates: (() => void)[] = [];
  const work = async (): Promise<void> => {
    state.rounds++;
    state.mostAtOnce = Math.max(state.mostAtOnce, ++state.atOnce);
    const seen = state.truth;
    await new Promise<void>((resolve) => gates.push(resolve));
    state.atOnce--;
    if (seen === 'broken') throw new Error('it broke');
    state.written = seen;
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  /** Completes the youngest waiting round first, as a network might. */
  const finish = async (): Promise<void> => {
    gates.pop()?.();
    await turn();
  };
  return { state, work, finish };
}

describe('work that is requested again', () => {
  it('ends with what was true when it was last requested', async () => {
    const { state, work, finish } = slowWork();
    const sync = oneAfterTheOther(work);
    const first = sync();
    state.truth = 'ready';
    const second = sync();
    await finish();
    await finish();
    await Promise.all([first, second]);
    expect(state).toMatchObject({ written: 'ready', rounds: 2, mostAtOnce: 1 });
  });

  it('is done once for all requests during a round', async () => {
    const { state, work, finish } = slowWork();
    const sync = oneAfterTheOther(work);
    const all = [sync(), sync(), sync(), sync()];
    await finish();
    await finish();
    await Promise.all(all);
    expect(state.rounds).toBe(2);
  });

  it('reports a failure to those of its round and continues', async () => {
    const { state, work, finish } = slowWork();
    const sync = oneAfterTheOther(work);
    state.truth = 'broken';
    const first = sync();
    state.truth = 'ready';
    const second = sync();
    const failed = expect(first).rejects.toThrow('it broke');
    await finish();
    await failed;
    await finish();
    await second;
    expect(state.written).toBe('ready');
    const third = sync();
    await finish();
    await expect(third).resolves.toBeUndefined();
  });
});
