import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownerOf } from './rendezvous.ts';

const id = fc.string({ minLength: 1, maxLength: 12 });
const members = fc.uniqueArray(id, { minLength: 1, maxLength: 8 });

describe('the owner of a share', () => {
  it('is one of the members, whoever counts them in whatever order', () => {
    fc.assert(
      fc.property(fc.string(), members, (share, all) => {
        const owner = ownerOf(share, all);
        expect(all).toContain(owner);
        expect(ownerOf(share, all.toReversed())).toBe(owner);
      }),
    );
    expect(ownerOf('a/b', [])).toBeUndefined();
  });

  it('changes only for what a newcomer gets and for what a leaving member had', () => {
    fc.assert(
      fc.property(fc.string(), members, id, (share, all, newcomer) => {
        fc.pre(!all.includes(newcomer));
        const before = ownerOf(share, all);
        const after = ownerOf(share, [...all, newcomer]);
        expect([before, newcomer]).toContain(after);
      }),
    );
  });

  it('is each of the members about equally often', () => {
    for (const all of [
      ['worker-1', 'worker-2'],
      ['capstan-controllers-7d4b9-aaaaa', 'capstan-controllers-7d4b9-aaaab', 'capstan-controllers-7d4b9-aaaac'],
    ]) {
      const counts = new Map(all.map((member) => [member, 0]));
      const shares = 6000;
      for (let i = 0; i < shares; i++) {
        const owner = ownerOf(`team-${i % 7}/cluster-${i}`, all) ?? '';
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      const fair = shares / all.length;
      for (const count of counts.values()) expect(Math.abs(count - fair)).toBeLessThan(fair * 0.1);
    }
  });
});
