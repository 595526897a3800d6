import { describe, expect, it } from 'vitest';
import { memoryClient } from '../../client/index.ts';
import { ManualClock } from '../../machinery/index.ts';
import { Widgets, widget } from '../testkit/test-kinds.ts';
import { createFence } from './fence.ts';
import { fencedClient } from './fenced-client.ts';

const by = { fieldManager: 'test' };

describe('a fence', () => {
  it('is open for a while after each renewal, counted from the start of the renewal', async () => {
    const clock = new ManualClock();
    const fence = createFence(clock, 3000);
    expect(() => fence.check()).toThrow('does not hold its lease');
    const beganAt = clock.monotonic();
    await clock.advance(1000);
    expect(fence.renewed(beganAt)).toBe(true);
    await clock.advance(1999);
    expect(fence.isOpen).toBe(true);
    await clock.advance(1);
    expect(fence.isOpen).toBe(false);
  });

  it('does not open again, whatever is renewed later', async () => {
    const clock = new ManualClock();
    const fence = createFence(clock, 3000);
    fence.renewed(clock.monotonic());
    await clock.advance(60_000);
    expect(fence.renewed(clock.monotonic())).toBe(false);
    expect(() => fence.check()).toThrow(expect.objectContaining({ code: 'CAP_LEASE_NOT_HELD' }));
  });

  it('lets reads pass and no write', async () => {
    const clock = new ManualClock();
    const fence = createFence(clock, 3000);
    const server = memoryClient({ clock });
    const client = fencedClient(server, fence);
    fence.renewed(clock.monotonic());
    await client.create(Widgets, widget('a'), by);
    fence.close();
    const key = { namespace: 'default', name: 'a' };
    const found = await client.get(Widgets, key);
    const before = server.writes().length;
    const writes = [
      () => client.create(Widgets, widget('b'), by),
      () => client.update(Widgets, found, by),
      () => client.patch(Widgets, key, 'merge', { spec: { size: 1 } }, by),
      () => client.apply(Widgets, found, by),
      () => client.delete(Widgets, key),
      () => client.deleteCollection(Widgets, { namespace: 'default' }),
      () => client.createSubresource(Widgets, key, 'status', found, by),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'CAP_LEASE_NOT_HELD' });
    expect(server.writes()).toHaveLength(before);
  });
});
