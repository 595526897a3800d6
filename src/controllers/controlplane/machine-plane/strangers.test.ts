import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../api/index.ts';
import { mayBeItsMember, memberOfLeaving } from './unknown-members.ts';

const machine = (status: NonNullable<Machine['status']>): Machine => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { name: 'm1', namespace: 'default' },
  spec: {
    clusterName: 'c1',
    bootstrap: {},
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name: 'm1' },
  },
  status,
});
const member = (name: string) => ({
  id: '1',
  name,
  peerUrls: ['https://10.0.0.7:2380'],
  clientUrls: [],
  isLearner: true,
});
const address = { type: 'InternalIP', address: '10.0.0.9' } as const;

describe('an etcd member without a known machine', () => {
  it.each([
    ['a machine of which nothing is known', {}, '', true],
    ['a machine with a Node and no address: its member has not started', { nodeRef: { name: 'm1' } }, '', true],
    ['a machine with another address', { addresses: [address] }, '', false],
    ['a machine with a Node, when the member has the name of another', { nodeRef: { name: 'm1' } }, 'm2', false],
    ['a machine without a Node, when the member has a name', {}, 'm2', true],
  ] as const)('is checked whether it may belong to %s', (_, status, name, expected) => {
    expect(mayBeItsMember(machine(status as NonNullable<Machine['status']>), member(name))).toBe(expected);
  });
});

describe('the etcd member of a deleted machine', () => {
  const [young, old] = [machine({}), machine({ nodeRef: { name: 'm2' }, addresses: [address] })];
  const [its, others] = [member('m1'), { ...member('m2'), id: '2' }];

  it('is removed when it joined before the machine was fully known', () => {
    const of = (one: Machine) => (one === old ? others : undefined);
    expect(memberOfLeaving(young, [young, old], { of, unknown: [its] })).toBe(its);
    expect(memberOfLeaving(young, [young, old], { of, unknown: [] })).toBeUndefined();
    expect(memberOfLeaving(old, [young, old], { of, unknown: [its] })).toBe(others);
  });

  it('is left alone while it may belong to another machine', () => {
    const third = machine({});
    const of = (one: Machine) => (one === old ? others : undefined);
    expect(memberOfLeaving(young, [young, old, third], { of, unknown: [its] })).toBe('unsure');
  });
});
