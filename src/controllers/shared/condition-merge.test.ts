import { describe, expect, it } from 'vitest';
import type { Machine, StatusCondition } from '../../api/index.ts';
import { aggregate, summarize } from './condition-merge.ts';
import { findCondition, mirror } from './condition-mirror.ts';
import { inLegacyOrder, inStoredOrder } from './condition-order.ts';
import { type LegacyConditioned, legacyFalse, legacyTrue, setLegacy, summarizeLegacy } from './legacy-conditions.ts';

const condition = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  message = '',
  reason = 'R',
): StatusCondition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const machine = (name: string, ready?: StatusCondition, controlPlane = false): Machine =>
  ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name, ...(controlPlane && { labels: { 'cluster.x-k8s.io/control-plane': '' } }) },
    spec: {},
    status: { conditions: ready ? [ready] : [] },
  }) as unknown as Machine;
const reasons = { issue: 'Bad', unknown: 'Dunno', good: 'Good' };

describe('a summary of conditions', () => {
  const of = ['Deleting', 'A', 'B', 'C'];
  const given = (...conditions: StatusCondition[]) =>
    summarize({ status: { conditions } }, { of, negative: ['Deleting'], optional: ['C'], reasons });
  it('is True when all conditions are', () => {
    expect(
      given(condition('Deleting', 'False'), condition('A', 'True'), condition('B', 'True', 'nearly full')),
    ).toEqual({
      status: 'True',
      reason: 'Good',
      message: '* B: nearly full',
    });
  });
  it('lists problems and unknown conditions in order, and omits good ones', () => {
    const verdict = given(condition('B', 'False', '', 'Broken'), condition('Deleting', 'True', 'going'));
    expect(verdict.status).toBe('False');
    expect(verdict.message).toBe('* Deleting: going\n* A: Condition not yet reported\n* B: Broken');
  });
  it('indents messages of several lines', () => {
    const verdict = given(
      condition('Deleting', 'False'),
      condition('A', 'False', 'first\nsecond'),
      condition('B', 'False', '* x\n* y'),
    );
    expect(verdict.message).toBe('* A:\n  * first\n  * second\n* B:\n  * x\n  * y');
  });
});

describe('an aggregate of machine conditions', () => {
  it('groups equal messages, control plane first, and counts the others', () => {
    const machines = [
      machine('w1', condition('Ready', 'False', 'disk full')),
      machine('w2', condition('Ready', 'False', 'disk full')),
      machine('w3', condition('Ready', 'Unknown', 'silent')),
      machine('cp', condition('Ready', 'False', 'etcd down'), true),
      machine('w4', condition('Ready', 'False', 'no memory')),
      machine('w5', condition('Ready', 'True')),
      machine('w6'),
    ];
    const verdict = aggregate(machines, 'Ready', { reasons });
    expect(verdict).toMatchObject({ status: 'False', reason: 'Bad' });
    expect(verdict.message).toBe(
      '* Machine cp: etcd down\n* Machines w1, w2: disk full\n* Machine w4: no memory\nAnd 2 Machines with status unknown',
    );
  });
  it('shortens long lists of names', () => {
    const machines = ['a', 'b', 'c', 'd', 'e'].map((name) => machine(name, condition('Ready', 'False', 'x')));
    expect(aggregate(machines, 'Ready', { reasons }).message).toBe('* Machines a, b, c, ... (2 more): x');
  });
});

describe('a mirrored condition', () => {
  const options = { type: 'Ready', goodReason: 'Ready', fallback: { status: 'False', reason: 'NotReady' } as const };
  const object = (status: object) => ({
    apiVersion: 'x/v1',
    kind: 'X',
    metadata: { name: 'x' },
    status: status as never,
  });
  it.each([
    ['the fallback without one', object({}), { status: 'False', reason: 'NotReady' }],
    [
      'a reason where there is none',
      object({ conditions: [{ type: 'Ready', status: 'True' }] }),
      { status: 'True', reason: 'Ready' },
    ],
    [
      'what cannot be read',
      object({ conditions: [{ type: 'Ready', status: 'Maybe' }] }),
      { status: 'Unknown', reason: 'InvalidConditionReported' },
    ],
    [
      'the newer of two',
      object({
        conditions: [{ type: 'Ready', status: 'False', reason: 'Old' }],
        v1beta2: { conditions: [{ type: 'Ready', status: 'True', reason: 'New' }] },
      }),
      { status: 'True', reason: 'New' },
    ],
  ])('shows %s', (_, source, expected) => {
    expect(mirror(source, options)).toMatchObject(expected);
  });
  it('is found among several conditions', () => {
    expect(findCondition(object({ conditions: [{ type: 'A' }, { type: 'B', status: 'True' }] }), 'B')).toMatchObject({
      status: 'True',
    });
  });
});

describe('the order of conditions', () => {
  it('is that of upstream, with unknown types before the last two', () => {
    const types = ['Deleting', 'Zebra', 'Ready', 'Paused', 'Available', 'NodeReady', 'NodeHealthy'];
    expect(inStoredOrder(types.map((type) => condition(type, 'True'))).map(({ type }) => type)).toEqual([
      'Available',
      'Ready',
      'NodeHealthy',
      'NodeReady',
      'Zebra',
      'Paused',
      'Deleting',
    ]);
  });
  it('is kept when the list is already ordered', () => {
    const list = [condition('Available', 'True'), condition('Ready', 'True')];
    expect(inStoredOrder(list)).toBe(list);
    expect(inLegacyOrder([condition('A', 'True'), condition('Ready', 'True')])[0]?.type).toBe('Ready');
  });
});

describe('legacy conditions', () => {
  it('are summarized to the worst one, with a step count when requested', () => {
    const draft: LegacyConditioned = {};
    setLegacy(draft, 'Bootstrap', legacyTrue, 0);
    setLegacy(draft, 'Infra', legacyFalse('Waiting', 'Info', 'for the cloud'), 0);
    setLegacy(draft, 'Health', legacyFalse('Sick', 'Error', 'very'), 0);
    expect(summarizeLegacy(draft, { of: ['Bootstrap', 'Infra', 'Health'] })).toMatchObject({
      reason: 'Sick',
      severity: 'Error',
      message: 'very',
    });
    expect(summarizeLegacy(draft, { of: ['Bootstrap', 'Infra'], steps: ['Bootstrap', 'Infra'] })).toMatchObject({
      message: '1 of 2 completed',
    });
    expect(summarizeLegacy(draft, { of: ['Bootstrap', 'Absent'] })).toEqual(legacyTrue);
    expect(summarizeLegacy(draft, { of: ['Absent'] })).toBeUndefined();
  });
});
