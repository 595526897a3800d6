import { describe, expect, it } from 'vitest';
import { type Pod, PodDisruptionBudgets, Pods, Secrets, Services, StatefulSets } from '../../../api/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import type { CacheReader, ObjectEvent } from '../../../runtime/index.ts';
import { FakeControlPlanes } from '../../testing/provider-kinds.ts';
import { planeWatches } from './watches.ts';

const watches = planeWatches({} as CacheReader, FakeControlPlanes, (_, { metadata }) => metadata.name === 'own');

/** Tells how an event enqueues the owner of a plane: not at all, with low priority, or at once. */
function hears(resource: Resource, event: ObjectEvent): string[] {
  return watches
    .filter((watch) => watch.resource.plural === resource.plural && watch.predicates.every((holds) => holds(event)))
    .map(({ patient }) => (patient ? 'patiently' : 'at once'));
}

const thing = (name: string, status: object = {}): KubeObject & { status: object } => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, generation: 1 },
  status,
});
const added = (name: string, initial = false): ObjectEvent => ({ type: 'add', object: thing(name), initial });
const restated: ObjectEvent = { type: 'update', old: thing('a'), object: thing('a', { changed: true }) };

describe('events that wake a hosted plane', () => {
  it.each<[string, Resource, ObjectEvent, string[]]>([
    ['one the pass made itself', Secrets, added('own'), []],
    ['one that was there when the program started', Secrets, added('own', true), ['at once']],
    ['one that somebody else made', Secrets, added('other'), ['at once']],
    ['the status of a Service', Services, restated, ['at once']],
    ['the status of a StatefulSet', StatefulSets, restated, ['patiently']],
    ['the status of a PodDisruptionBudget', PodDisruptionBudgets, restated, []],
  ])('are judged by object: %s', (_, resource, event, expected) => {
    expect(hears(resource, event)).toEqual(expected);
  });
});

describe('Pod events that wake a hosted plane', () => {
  const pod = (status: Pod['status'], deletionTimestamp?: string): Pod =>
    ({ ...thing('p'), metadata: { name: 'p', ...(deletionTimestamp && { deletionTimestamp }) }, status }) as Pod;
  const pending = pod({ phase: 'Pending' });
  const running = pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
  const ready = pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
  const unplaced = pod({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }],
  });
  const turned = (old: Pod, object: Pod): ObjectEvent => ({ type: 'update', old, object });
  it.each<[string, ObjectEvent, string[]]>([
    ['one that was just made', { type: 'add', object: pending, initial: false }, []],
    ['one that begins to run', turned(pending, running), ['patiently']],
    ['one that begins to answer', turned(running, ready), ['at once']],
    ['one that answers no more', turned(ready, running), ['at once']],
    ['one that is to go', turned(ready, pod(ready.status, '2026-01-01T00:00:00Z')), ['at once']],
    ['one that is gone', { type: 'delete', object: ready, finalStateUnknown: false }, ['at once']],
    ['one that no node is for', turned(pending, unplaced), ['at once']],
    ['one that nothing happened to', turned(ready, ready), []],
  ])('are judged by change: %s', (_, event, expected) => {
    expect(hears(Pods, event)).toEqual(expected);
  });
});
