import { afterEach, describe, expect, it } from 'vitest';
import { withCondition } from '../../machinery/index.ts';
import { patchObject } from '../status/patch-object.ts';
import { type ControllerWorld, controllerWorld } from '../testkit/controller-world.ts';
import { settle } from '../testkit/eventually.ts';
import { Widgets, widget } from '../testkit/test-kinds.ts';
import type { ReconcileContext } from './definition.ts';
import { done } from './result.ts';

const by = { fieldManager: 'test' };
const key = { namespace: 'default', name: 'a' };

let world: ControllerWorld;

afterEach(async () => {
  await world.stop();
});

/** Reports the size of a widget in the message of its condition; it is ready from size 10 on, and has a phase from size 5 on. */
async function reportSize(context: ReconcileContext): Promise<void> {
  const before = context.cache.lister(Widgets).get(key);
  if (!before) return;
  const { size = 0 } = before.spec ?? {};
  const condition = {
    type: 'Ready',
    status: size < 10 ? ('False' as const) : ('True' as const),
    reason: size < 10 ? 'Small' : 'Large',
    message: `size ${size}`,
  };
  const conditions = [...withCondition(before.status?.conditions, condition, context.clock.now())];
  const after = { ...before, status: { ...before.status, conditions, ...(size >= 5 && { phase: 'Up' }) } };
  await patchObject(context.client, Widgets, before, after, {
    ...by,
    clock: context.clock,
    statusMayWait: ({ fields, conditions }) =>
      fields.length === 0 &&
      conditions.every(({ from, to }) => from?.status === to?.status) &&
      context.statusMayWait?.(Widgets, key) === true,
  });
}

async function openWorld(statusDelayMs?: number): Promise<void> {
  world = controllerWorld(
    {
      reconcile: async (context) => {
        await reportSize(context);
        return done();
      },
    },
    { ...(statusDelayMs !== undefined && { statusDelayMs }) },
  );
  await world.server.create(Widgets, widget('a', { spec: { size: 1 } }), by);
  await world.start();
}

async function resize(size: number): Promise<void> {
  await world.server.patch(Widgets, key, 'merge', { spec: { size } }, by);
  await settle();
}

async function message(): Promise<string | undefined> {
  return (await world.server.get(Widgets, key)).status?.conditions?.[0]?.message;
}

function statusWrites(): number {
  return world.server.requests.filter(({ subresource }) => subresource === 'status').length;
}

describe('a status that nobody waits for', () => {
  it('is written at once by default', async () => {
    await openWorld();
    await resize(2);
    expect(await message()).toBe('size 2');
  });

  it('waits for the delay and is then written with the newest text', async () => {
    await openWorld(3000);
    expect(await message()).toBe('size 1');
    await resize(2);
    await world.clock.advance(2000);
    await resize(3);
    expect(await message()).toBe('size 1');
    await world.clock.advance(1000);
    await settle();
    expect(await message()).toBe('size 3');
    expect(statusWrites()).toBe(2);
    await world.clock.advance(60_000);
    expect(statusWrites()).toBe(2);
  });

  it('is delayed again by every series of changes', async () => {
    await openWorld(3000);
    for (const size of [2, 3]) {
      await resize(size);
      expect(await message()).toBe(`size ${size - 1}`);
      await world.clock.advance(3000);
      await settle();
      expect(await message()).toBe(`size ${size}`);
    }
  });

  it('is not written when the text is back to what it was before the delay ended', async () => {
    await openWorld(3000);
    await resize(2);
    await world.clock.advance(1000);
    await resize(1);
    await world.clock.advance(60_000);
    expect(statusWrites()).toBe(1);
  });

  it('is written at once together with a changed condition or another field', async () => {
    await openWorld(3000);
    await resize(2);
    await resize(5);
    expect(await message()).toBe('size 5');
    await resize(6);
    expect(await message()).toBe('size 5');
    await resize(12);
    expect(await message()).toBe('size 12');
  });
});
