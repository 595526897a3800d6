import { describe, expect, it } from 'vitest';
import { FairPool, type FlowUser } from './fair-pool.ts';

const ordinary = (key: string): FlowUser => ({ key, class: 'ordinary' });
const controller: FlowUser = { key: 'controller', class: 'system' };
const admin: FlowUser = { key: 'admin', class: 'exempt' };

/** Takes units one by one until refused, and returns their number. */
function greed(pool: FairPool, user: FlowUser, most = 10_000): number {
  let taken = 0;
  while (taken < most && pool.take(user, 1)) taken++;
  return taken;
}

describe('FairPool', () => {
  it('gives one sender half of the shared part and leaves the rest to others', () => {
    const pool = new FairPool(400);
    expect(greed(pool, ordinary('a'))).toBe(150);
    expect(greed(pool, ordinary('b'))).toBe(75);
    expect(greed(pool, ordinary('c'))).toBeGreaterThan(30);
  });

  it('keeps something for the next sender, however many take as much as they can', () => {
    const pool = new FairPool(400);
    for (let i = 0; i < 5; i++) greed(pool, ordinary(`greedy-${i}`));
    expect(pool.take(ordinary('modest'), 1)).toBe(true);
  });

  it('keeps a reserve for controllers, and never refuses administrators', () => {
    const pool = new FairPool(400);
    for (let i = 0; i < 1000; i++) greed(pool, ordinary(`greedy-${i}`));
    expect(greed(pool, controller)).toBe(100);
    expect(greed(pool, admin, 1000)).toBe(1000);
  });

  it('does not count what administrators hold against other senders', () => {
    const pool = new FairPool(400);
    greed(pool, admin, 1000);
    expect(greed(pool, ordinary('a'))).toBe(150);
  });

  it('gives out again what was given back', () => {
    const pool = new FairPool(400);
    for (let round = 0; round < 3; round++) {
      expect(greed(pool, ordinary('a'))).toBe(150);
      expect(greed(pool, ordinary('b'))).toBe(75);
      pool.giveBack(ordinary('a'), 150);
      pool.giveBack(ordinary('b'), 75);
    }
  });
});
