import { describe, expect, it } from 'vitest';
import { type ControllerWorld, controllerWorld } from '../testkit/controller-world.ts';
import { runUntil, settle } from '../testkit/eventually.ts';
import { Gadgets, gadget, Widgets, widget } from '../testkit/test-kinds.ts';
import { defineController } from './definition.ts';
import { done } from './result.ts';
import { watchMapped, watchObjects } from './watches.ts';

const by = { fieldManager: 'test' };
const at = (name: string) => ({ namespace: 'default', name });

describe('a background controller beside busy ones', () => {
  /** Starts another controller with one key in progress and `waiting` more, until released. */
  const busyNeighbour = (w: ControllerWorld) => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun: string[] = [];
    const neighbour = w.manager.add(
      defineController({
        name: 'gadget',
        for: Gadgets,
        watches: [],
        reconcile: async (_, { name }) => {
          begun.push(name);
          await held;
          return done();
        },
      }),
    );
    return { begun, release, enqueue: (name: string) => neighbour.enqueue(at(name)) };
  };

  it('works in the background after the others have finished', async () => {
    const begun: string[] = [];
    const w = controllerWorld({
      background: true,
      reconcile: async (_, { name }) => {
        begun.push(name);
        return done();
      },
    });
    const neighbour = busyNeighbour(w);
    await w.start();
    neighbour.enqueue('g1');
    neighbour.enqueue('g2');
    await w.server.create(Widgets, widget('a'), by);
    await settle();
    expect(begun).toEqual([]);
    neighbour.release();
    await settle();
    expect(neighbour.begun).toEqual(['g1', 'g2']);
    expect(begun).toEqual(['a']);
    await w.stop();
  });

  it('does not wait in the background for work that only waits itself', async () => {
    const begun: number[] = [];
    const w = controllerWorld({
      background: true,
      reconcile: async ({ clock }) => {
        begun.push(clock.now());
        return done();
      },
    });
    const neighbour = busyNeighbour(w);
    await w.start();
    const from = w.clock.now();
    neighbour.enqueue('g1');
    neighbour.enqueue('g2');
    await w.server.create(Widgets, widget('a'), by);
    await runUntil(w.clock, () => begun.length === 1, { limitMs: 2_000 });
    expect(begun[0]! - from).toBe(500);
    neighbour.release();
    await w.stop();
  });

  it('collects changes of a patient watch and handles a new object at once', async () => {
    const seen: (string | undefined)[] = [];
    const w = controllerWorld({
      watches: [watchObjects(Widgets), watchMapped(Gadgets, () => [at('a')], { patient: true })],
      reconcile: async ({ cache }) => {
        seen.push(cache.lister(Gadgets).get(at('g'))?.spec?.colour);
        return done();
      },
    });
    const neighbour = busyNeighbour(w);
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    neighbour.enqueue('g1');
    seen.length = 0;
    await w.server.create(Gadgets, gadget('g'), by);
    await settle();
    expect(seen.splice(0)).toEqual([undefined]);
    for (const colour of ['red', 'green', 'blue']) {
      await w.server.patch(Gadgets, at('g'), 'merge', { spec: { colour } }, by);
      await settle();
    }
    expect(seen).toEqual([]);
    neighbour.release();
    await settle();
    expect(seen).toEqual(['blue']);
    await w.stop();
  });
});
