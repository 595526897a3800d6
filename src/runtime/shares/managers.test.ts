import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryClient } from '../../client/index.ts';
import { CapstanError, ManualClock, seededRandom } from '../../machinery/index.ts';
import { watchObjects, watchOwned } from '../controller/index.ts';
import { done } from '../controller/result.ts';
import { createManager, type Manager } from '../manager.ts';
import { runUntil } from '../testkit/eventually.ts';
import { simulatedProcess } from '../testkit/simulated-process.ts';
import { Gadgets, gadget, Widgets, widget } from '../testkit/test-kinds.ts';
import type { ShareMap } from './share-map.ts';

const by = { fieldManager: 'test' };
const wanted = 3;
const widgets = Array.from({ length: 8 }, (_, index) => `w${index}`);

const eachWidget: ShareMap = {
  clusters: Widgets,
  shareOf: (_resource, { metadata }) => `${metadata.namespace}/${metadata.name}`,
  shareOfMissing: () => undefined,
};

/** Creates missing gadgets with random names. A stale cache would lead to too many. */
function addMaker(manager: Manager, names: () => string): void {
  manager.add({
    name: 'maker',
    for: Widgets,
    concurrency: 4,
    watches: [watchObjects(Widgets), watchOwned(Gadgets, Widgets)],
    async reconcile({ client, cache }, key) {
      const owner = cache.lister(Widgets).get(key);
      if (!owner) return done();
      const { uid } = owner.metadata;
      const own = cache.lister(Gadgets).list({
        filter: ({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid) === true,
      });
      for (let missing = wanted - own.length; missing > 0; missing--) {
        await client.create(Gadgets, gadget(`${key.name}-${names()}`, owner), by);
      }
      return done();
    },
  });
}

const happening = fc.record({
  what: fc.constantFrom('join', 'pause', 'resume', 'leave'),
  who: fc.nat(2),
  afterMs: fc.integer({ min: 0, max: 6000 }),
});

it('managers that share the work make nothing twice, whichever processes join, leave or pause meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(happening, { maxLength: 8 }), async (seed, happenings) => {
      const clock = new ManualClock();
      const server = memoryClient({ clock });
      const random = seededRandom(seed);
      const start = (id: string) => {
        const process = simulatedProcess(clock, server, () => random.next() * 150);
        const stop = new AbortController();
        const run = async (): Promise<void> => {
          while (!stop.signal.aborted) {
            const manager = createManager({
              client: process.client,
              clock: process.clock,
              random,
              shares: { namespace: 'capstan-system', name: 'capstan-share', identity: id, map: () => eachWidget },
            });
            addMaker(manager, () => random.text(5));
            await manager.run(stop.signal).catch((error: unknown) => {
              if (!(error instanceof CapstanError && error.code === 'CAP_LEADERSHIP_LOST')) throw error;
            });
          }
        };
        const member = { process, stop, ended: false, running: Promise.resolve() };
        member.running = run().then(() => {
          member.ended = true;
        });
        return member;
      };
      const members = [start('m0')];
      for (const name of widgets) await server.create(Widgets, widget(name), by);
      for (const { what, who, afterMs } of happenings) {
        await clock.advance(afterMs);
        const member = members[who % members.length];
        if (what === 'join' && members.length < 3) members.push(start(`m${members.length}`));
        // At least one member must remain.
        if (what === 'leave' && who % members.length > 0) member?.stop.abort();
        if (what === 'pause') member?.process.pause();
        if (what === 'resume') member?.process.resume();
        await server.create(Widgets, widget(`late-${server.revision}`), by);
      }
      for (const { process } of members) process.resume();
      const all = (await server.list(Widgets)).items;
      const countByOwner = async (): Promise<number[]> => {
        const { items } = await server.list(Gadgets);
        const owners = items.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
        return all.map(({ metadata }) => owners.filter((uid) => uid === metadata.uid).length);
      };
      await runUntil(clock, async () => (await countByOwner()).every((count) => count >= wanted), { limitMs: 60_000 });
      await clock.advance(10_000);
      expect(new Set(await countByOwner())).toEqual(new Set([wanted]));
      for (const { stop } of members) stop.abort();
      await runUntil(clock, () => members.every(({ ended }) => ended), { limitMs: 60_000 });
    }),
    { numRuns: 25 },
  );
}, 120_000);
