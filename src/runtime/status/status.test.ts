import { describe, expect, it } from 'vitest';
import { memoryClient } from '../../client/index.ts';
import { type Condition, clone, isConflict, ManualClock, withCondition } from '../../machinery/index.ts';
import { type Widget, Widgets, widget } from '../testkit/test-kinds.ts';
import { patchObject, patchStatus } from './patch-object.ts';

const by = { fieldManager: 'test' };
const key = { namespace: 'default', name: 'w' };
const start = Date.UTC(2026, 0, 1);
const ready = (status: Condition['status'], more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status,
  reason: 'R',
  message: '',
  ...more,
});

async function setUp(status?: Widget['status'], finalizers?: string[]) {
  const clock = new ManualClock(start);
  const client = memoryClient({ clock });
  const object = client.seed(Widgets, {
    ...widget('w', { spec: { size: 1 }, ...(finalizers && { finalizers }) }),
    ...(status && { status }),
  });
  client.requests.length = 0;
  return { clock, client, object, options: { ...by, clock } };
}

function setCondition(draft: Widget, condition: Condition, nowMs: number): void {
  draft.status = { ...draft.status, conditions: [...withCondition(draft.status?.conditions, condition, nowMs)] };
}

describe('writing an object back', () => {
  it('writes nothing when nothing changed', async () => {
    const { client, object, options } = await setUp({
      phase: 'Up',
      observedGeneration: 1,
      conditions: [ready('True', { lastTransitionTime: 't' })],
    });
    expect(await patchObject(client, Widgets, object, clone(object), { ...options, observedGeneration: true })).toBe(
      object,
    );
    expect(client.requests).toEqual([]);
  });

  it('writes spec and status with one patch each', async () => {
    const { client, object, options } = await setUp({ phase: 'Old', note: 'gone soon' });
    const draft = clone(object);
    draft.spec = { size: 5 };
    draft.metadata.labels = { a: 'b' };
    draft.status = { phase: 'New' };
    const stored = await patchObject(client, Widgets, object, draft, options);
    expect(client.requests.map(({ verb, subresource }) => [verb, subresource])).toEqual([
      ['patch', undefined],
      ['patch', 'status'],
    ]);
    expect(stored).toMatchObject({ spec: { size: 5 }, metadata: { labels: { a: 'b' } } });
    expect(stored.status).toEqual({ phase: 'New' });
  });

  it('counts the generation of its own write as observed, and none of others', async () => {
    const { client, object, options } = await setUp();
    const resized = { ...clone(object), spec: { size: 2 } };
    const own = await patchObject(client, Widgets, object, resized, { ...options, observedGeneration: true });
    expect(own).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 2 } });
    await client.patch(Widgets, key, 'merge', { spec: { size: 3 } }, by);
    const labelled = { ...clone(own), metadata: { ...own.metadata, labels: { a: 'b' } } };
    const late = await patchObject(client, Widgets, own, labelled, { ...options, observedGeneration: true });
    expect(late).toMatchObject({ metadata: { generation: 3 }, status: { observedGeneration: 2 } });
    const both = { ...clone(own), spec: { size: 4 } };
    const mixed = await patchObject(client, Widgets, own, both, { ...options, observedGeneration: true });
    expect(mixed).toMatchObject({ metadata: { generation: 4 }, status: { observedGeneration: 2 } });
  });

  it('records the generation it looked at', async () => {
    const { client, object, options } = await setUp();
    const stored = await patchStatus(client, Widgets, object, clone(object), { ...options, observedGeneration: true });
    expect(stored.status).toEqual({ observedGeneration: 1 });
  });

  it('keeps conditions that others wrote meanwhile', async () => {
    const { client, object, options, clock } = await setUp({
      conditions: [ready('False', { lastTransitionTime: 't' })],
    });
    const other = clone(object);
    setCondition(other, { type: 'Theirs', status: 'True' }, start);
    await client.update(Widgets, other, { ...by, subresource: 'status' });
    await clock.advance(60_000);
    const draft = clone(object);
    setCondition(draft, ready('True'), clock.now());
    const stored = await patchStatus(client, Widgets, object, draft, options);
    expect(
      stored.status?.conditions?.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime]),
    ).toEqual([
      ['Ready', 'True', '2026-01-01T00:01:00Z'],
      ['Theirs', 'True', '2026-01-01T00:00:00Z'],
    ]);
  });

  it('keeps conditions of others when it writes the spec first', async () => {
    const { client, object, options } = await setUp();
    const other = clone(object);
    setCondition(other, { type: 'Theirs', status: 'True' }, start);
    await client.update(Widgets, other, { ...by, subresource: 'status' });
    const draft = clone(object);
    draft.spec = { size: 9 };
    setCondition(draft, ready('True'), start);
    const stored = await patchObject(client, Widgets, object, draft, options);
    expect(stored.status?.conditions?.map(({ type }) => type)).toEqual(['Theirs', 'Ready']);
  });

  it('removes the conditions it removed itself and no others', async () => {
    const { client, object, options } = await setUp({
      conditions: [
        ready('True', { lastTransitionTime: 't' }),
        { type: 'Old', status: 'True', lastTransitionTime: 't' },
      ],
    });
    const draft = clone(object);
    draft.status!.conditions = draft.status!.conditions!.filter(({ type }) => type !== 'Old');
    const stored = await patchStatus(client, Widgets, object, draft, options);
    expect(stored.status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
  });

  it('never undoes a finalizer that somebody else added', async () => {
    const { client, object, options } = await setUp(undefined, ['ours']);
    await client.patch(Widgets, key, 'merge', { metadata: { finalizers: ['ours', 'theirs'] } }, by);
    const draft = clone(object);
    draft.metadata.finalizers = [];
    const error = await patchObject(client, Widgets, object, draft, options).catch((problem: unknown) => problem);
    expect(isConflict(error)).toBe(true);
    expect((await client.get(Widgets, key)).metadata.finalizers).toEqual(['ours', 'theirs']);
  });

  it('ends without an error when the object is deleted with its last finalizer', async () => {
    const { client, options } = await setUp(undefined, ['ours']);
    const terminating = (await client.delete(Widgets, key))!;
    const draft = clone(terminating);
    delete draft.metadata.finalizers;
    draft.status = { phase: 'Deleted' };
    await patchObject(client, Widgets, terminating, draft, options);
    expect((await client.list(Widgets)).items).toEqual([]);
  });

  it('writes status fields without a lock, since they are its own', async () => {
    const { client, object, options } = await setUp();
    await client.patch(Widgets, key, 'merge', { spec: { size: 7 } }, by);
    const stored = await patchStatus(client, Widgets, object, { ...object, status: { phase: 'Up' } }, options);
    expect(stored).toMatchObject({ spec: { size: 7 }, status: { phase: 'Up' } });
  });
});
