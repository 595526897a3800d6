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

test('what was applied at birth is not applied again under the name of its identity', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.create(client, Machines, desiredFor({ a: '1' }));
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1', foreign: 'x' }));
  expect(sent).toHaveLength(1);
});

test('a spec that changed, or is no longer true, is applied', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.create(client, Machines, desiredFor({ a: '1', b: '2' }));
  // a removed label must be sent although the live object shows the rest
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1', b: '2' }));
  expect(sent).toHaveLength(2);
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({}));
  expect(sent).toHaveLength(3);
});

test('something born as desired is left alone until the spec is more than that', async () => {
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

test('of an object it does not know it says everything once', async () => {
  const { sent, client } = clientThatCounts();
  const applies = createApplyOnce('me');
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1' }));
  await applies.apply(client, Machines, desiredFor({ a: '1' }, 'u1'), live({ a: '1' }));
  expect(sent).toHaveLength(1);
});
