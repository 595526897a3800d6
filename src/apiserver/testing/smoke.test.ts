import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMap, type Target, targetsByEngine } from './index.ts';

describe.each(targetsByEngine)('$name', ({ start }) => {
  let t: Target;
  beforeAll(async () => {
    t = await start();
  });
  afterAll(() => t.stop());
  it('works', async () => {
    const ns = await t.namespace();
    const a = await t.api.create(ns.core('configmaps'), configMap('a'));
    expect(a.object.metadata.name).toBe('a');
    const w = await t.api.watch(`${ns.core('configmaps')}?watch=1`);
    console.log((await w.take(1))[0]!.type);
    w.close();
  });
});
