import { expect, test } from 'vitest';
import { type Machine, Machines } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { createApplyOnce } from './apply-once.ts';

const desiredFor = (labels: Record<string, string>, uid?: string) => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { namespace: 'team', name: 'one', ...(uid !== undefined && { uid }), labels },
});

function clientThatCounts() {
  const sent: unknown[] = [];
  const client = {
    apply: async (_resource: unknown, desired: ReturnType<typeof desiredFor>) => {
      sent.push(desired);
      return { ...desired, metadata: { ...desired.metadata, uid: 'u1' } };
    },
  };
  return { sent, client: client as Partial<Client> as Client };
}

const live = (labels: Record<string, string>): Machine => desiredFor(labels, 'u1') as Machine;

test('a spec that was applied on creation is not applied again by uid', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.create(client, Machines, desiredFor({ a: '1' }));
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1', foreign: 'x' }));
  expect(sent).toHaveLength(1);
});

test('a spec that changed or no longer matches the live object is applied', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.create(client, Machines, desiredFor({ a: '1', b: '2' }));
  // a removed label must be sent although the live object shows the rest
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1', b: '2' }));
  expect(sent).toHaveLength(2);
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({}));
  expect(sent).toHaveLength(3);
});

test('an object created as desired is not applied until the spec adds more', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  applies.noteBirth('u1');
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1' }));
  expect(sent).toHaveLength(0);
  await applies.apply(client, Machines, desiredFor({ a: '1', b: '2' }, 'u1'), live({ a: '1' }));
  expect(sent).toHaveLength(1);
  // only an apply can release fields that were applied before
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1', b: '2' }));
  expect(sent).toHaveLength(2);
});

test('an unknown object is applied once', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1' }));
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1' }));
  expect(sent).toHaveLength(1);
});
