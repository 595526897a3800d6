import { describe, expect, it } from 'vitest';
import type { Condition } from '../meta/index.ts';
import {
  getCondition,
  isConditionFalse,
  isConditionTrue,
  transitionTime,
  withCondition,
  withConditionLast,
  withoutCondition,
} from './conditions.ts';

const start = Date.UTC(2026, 0, 1);
const ready = (status: Condition['status'], more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status,
  reason: 'R',
  message: '',
  ...more,
});

describe('conditions', () => {
  it('change their transition time only with their status', () => {
    const first = withCondition(undefined, ready('False'), start);
    expect(first).toEqual([ready('False', { lastTransitionTime: '2026-01-01T00:00:00Z' })]);
    const reworded = withCondition(first, ready('False', { message: 'still not' }), start + 5000);
    expect(reworded[0]).toMatchObject({ message: 'still not', lastTransitionTime: '2026-01-01T00:00:00Z' });
    const changed = withCondition(reworded, ready('True'), start + 9000);
    expect(changed[0]!.lastTransitionTime).toBe('2026-01-01T00:00:09Z');
    expect(withCondition(changed, ready('True'), start + 99_000)).toBe(changed);
  });

  it('take a given transition time when the status changes', () => {
    const since = '2025-05-05T00:00:00Z';
    const list = withCondition(undefined, ready('True', { lastTransitionTime: since }), start);
    expect(list[0]?.lastTransitionTime).toBe(since);
    const same = withCondition(list, ready('True', { lastTransitionTime: '2025-06-06T00:00:00Z' }), start);
    expect(same).toBe(list);
  });

  it('are found, tested and removed by type, and keep their place', () => {
    let list = withCondition<Condition>(undefined, ready('True'), start);
    list = withCondition(list, { type: 'Paused', status: 'False' }, start);
    expect(getCondition(list, 'Paused')?.status).toBe('False');
    expect(getCondition(undefined, 'Paused')).toBeUndefined();
    expect(isConditionTrue(list, 'Ready')).toBe(true);
    expect(isConditionFalse(list, 'Paused')).toBe(true);
    expect(isConditionTrue(list, 'None')).toBe(false);
    expect(withCondition(list, ready('False'), start).map(({ type }) => type)).toEqual(['Ready', 'Paused']);
    expect(withoutCondition(list, 'Ready').map(({ type }) => type)).toEqual(['Paused']);
    expect(withoutCondition(list, 'None')).toBe(list);
  });

  it('move to the end when they change, as the controllers of Kubernetes do', () => {
    const list = withConditionLast<Condition>(
      [ready('True'), { type: 'Paused', status: 'False' }],
      ready('False'),
      start,
    );
    expect(list.map(({ type }) => type)).toEqual(['Paused', 'Ready']);
    expect(list[1]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    expect(withConditionLast(list, { ...ready('False'), observedGeneration: 7 }, start + 1000)).toBe(list);
    const reworded = withConditionLast(list, ready('False', { message: 'm' }), start + 5000);
    expect(reworded[1]).toMatchObject({ message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' });
  });

  it('without a transition time count from now', () => {
    expect(transitionTime({ type: 'Ready', status: 'True', lastTransitionTime: null }, 'True', start)).toBe(
      '2026-01-01T00:00:00Z',
    );
  });
});
