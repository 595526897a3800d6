import { expect, it } from 'vitest';
import { allDone } from './all-done.ts';

it('allDone waits for all promises and throws the error of the first failed one in their order', async () => {
  const ended: string[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const work = async (name: string, error?: Error): Promise<string> => {
    if (error) throw error;
    await turn();
    ended.push(name);
    return name;
  };
  expect(await allDone([work('a'), work('b')])).toEqual(['a', 'b']);
  const failing = allDone([work('c'), work('d', new Error('first')), work('e', new Error('second')), work('f')]);
  await expect(failing).rejects.toThrow('first');
  expect(ended).toEqual(['a', 'b', 'c', 'f']);
});
