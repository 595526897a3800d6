import { describe, expect, it } from 'vitest';
import { controllerWorld } from '../testkit/controller-world.ts';
import { runUntil, settle } from '../testkit/eventually.ts';
import type { FaultRule } from '../testkit/faulty-client.ts';
import { Widgets, widget } from '../testkit/test-kinds.ts';
import type { ReconcileContext } from './definition.ts';
import { done } from './result.ts';

const by = { fieldManager: 'test' };
const at = (name: string) => ({ namespace: 'default', name });

describe('a controller and its own writes', () => {
  const status = { ...by, subresource: 'status' as const };
  /** A controller that acts in its first reconcile and counts all. */
  const looks = (
    first: (context: ReconcileContext) => Promise<unknown>,
    {
      rules = [],
      continuesAfterOwnWrite = 'status',
    }: { rules?: FaultRule[]; continuesAfterOwnWrite?: 'status' | 'everything' } = {},
  ) => {
    const seen: (string | undefined)[] = [];
    const w = controllerWorld(
      {
        continuesAfterOwnWrite,
        reconcile: async (context: ReconcileContext, key) => {
          seen.push(context.cache.lister(Widgets).get(key)?.status?.phase);
          if (seen.length === 1) await first(context);
          return done();
        },
      },
      { rules },
    );
    return { ...w, seen };
  };

  it('reconciles again after its own status write unless it continued after it', async () => {
    const seen: (string | undefined)[] = [];
    const w = controllerWorld({
      reconcile: async ({ client, cache }, key) => {
        const phase = cache.lister(Widgets).get(key)?.status?.phase;
        seen.push(phase);
        const next = phase === undefined ? 'Coming' : 'Up';
        if (phase !== next) await client.patch(Widgets, key, 'merge', { status: { phase: next } }, status);
        return done();
      },
    });
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await settle();
    expect(seen).toEqual([undefined, 'Coming', 'Up']);
    await w.stop();
  });

  it('does not reconcile again after its own status write when it continued after it', async () => {
    const w = looks(({ client }) => client.patch(Widgets, at('a'), 'merge', { status: { phase: 'Up' } }, status));
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await w.clock.advance(60_000);
    expect(w.seen).toEqual([undefined]);
    await w.stop();
  });

  it.each([
    ['between two writes of its own', ['own', 'other', 'own']],
    ['before its own', ['other', 'own']],
    ['after its own', ['own', 'other']],
  ])('reconciles at once after a status that another wrote %s', async (_, writers) => {
    const w = looks(async ({ client }) => {
      for (const [index, writer] of writers.entries()) {
        const writing = writer === 'own' ? client : w.server;
        await writing.patch(Widgets, at('a'), 'merge', { status: { phase: `${index}` } }, status);
      }
    });
    await w.server.create(Widgets, widget('a'), by);
    const begin = w.clock.now();
    await w.start();
    expect(w.seen).toEqual([undefined, `${writers.length - 1}`]);
    expect(w.clock.now()).toBe(begin);
    await w.stop();
  });

  it('reconciles again after a change of its own beyond the status', async () => {
    const w = looks(({ client }) => client.patch(Widgets, at('a'), 'merge', { spec: { size: 7 } }, by));
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    expect(w.seen).toHaveLength(2);
    await w.stop();
  });

  it('does not reconcile again after any change of its own when it continued with it', async () => {
    const w = looks(
      async ({ client }) => {
        await client.patch(Widgets, at('a'), 'merge', { metadata: { finalizers: ['test/held'] } }, by);
        await client.patch(Widgets, at('a'), 'merge', { spec: { size: 7 } }, by);
      },
      { continuesAfterOwnWrite: 'everything' },
    );
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await w.clock.advance(60_000);
    expect(w.seen).toHaveLength(1);
    await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
    await settle();
    expect(w.seen).toHaveLength(2);
    await w.stop();
  });

  it('reconciles what another changed meanwhile, even if it continues with its own changes', async () => {
    const w = looks(
      async ({ client }) => {
        await client.patch(Widgets, at('a'), 'merge', { spec: { size: 7 } }, by);
        await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
      },
      { continuesAfterOwnWrite: 'everything' },
    );
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    expect(w.seen).toHaveLength(2);
    await w.stop();
  });

  it('reconciles what another changed before a write of its own that changes nothing', async () => {
    const w = looks(
      async ({ client, cache }) => {
        await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
        await expect.poll(() => cache.lister(Widgets).get(at('a'))?.spec?.size).toBe(8);
        await client.patch(Widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
      },
      { continuesAfterOwnWrite: 'everything' },
    );
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await expect.poll(() => w.seen.length).toBe(2);
    await w.stop();
  });

  it('reconciles at once after a status that another writes after its work', async () => {
    const w = looks(({ client }) => client.patch(Widgets, at('a'), 'merge', { status: { phase: 'Up' } }, status));
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await w.server.patch(Widgets, at('a'), 'merge', { status: { phase: 'Down' } }, status);
    await settle();
    expect(w.seen).toEqual([undefined, 'Down']);
    await w.stop();
  });

  it('reconciles again when the stream was lost, since others may have written meanwhile', async () => {
    const rules: FaultRule[] = [];
    const w = looks(
      async ({ client }) => {
        rules.push({ verb: 'watch', error: () => new Error('down') });
        w.server.endWatches();
        await settle();
        await w.server.patch(Widgets, at('a'), 'merge', { status: { phase: 'Other' } }, status);
        await client.patch(Widgets, at('a'), 'merge', { status: { ready: 1 } }, status);
        rules.length = 0;
      },
      { rules },
    );
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await runUntil(w.clock, () => w.seen.length > 1, { limitMs: 60_000 });
    expect(w.seen).toEqual([undefined, 'Other']);
    await w.stop();
  });
});
