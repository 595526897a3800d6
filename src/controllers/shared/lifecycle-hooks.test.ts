import { expect, test } from 'vitest';
import type { Cluster } from '../../api/index.ts';
import { ManualClock } from '../../machinery/index.ts';
import { createHookCaller, type ExtensionHandlers, HookError, type HookResult } from './lifecycle-hooks.ts';
import { isHookPending, isOkToDelete, markHookDone, markHooksPending, markOkToDelete } from './pending-hooks.ts';

const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { namespace: 'team', name: 'one', uid: 'u1' },
  spec: {},
};
const signal = new AbortController().signal;

/** Builds extensions with configurable answers that record who was called. */
function extensionsOf(answers: Record<string, { retryAfterSeconds?: number; message?: string } | Error>) {
  const asked: string[] = [];
  const extensions: ExtensionHandlers = {
    listening: (hook, namespace) =>
      hook === 'BeforeClusterUpgrade' && namespace === 'team' ? Object.keys(answers) : [],
    call: async (_hook, handler) => {
      asked.push(handler);
      const answer = answers[handler]!;
      if (answer instanceof Error) throw answer;
      return answer as never;
    },
  };
  return { asked, extensions };
}

const upgrade = { cluster, fromKubernetesVersion: 'v1.32.0', toKubernetesVersion: 'v1.33.0' };

test('a hook without handlers succeeds', async () => {
  const hooks = createHookCaller({ clock: new ManualClock() });
  expect(hooks.isListenedTo('BeforeClusterCreate', cluster)).toBe(false);
  expect(await hooks.call('BeforeClusterCreate', cluster, { cluster }, signal)).toEqual({ status: 'go-on' });
});

test('a built-in handler is called only for its hook and the objects it handles', async () => {
  const seen: string[] = [];
  const answer: HookResult = { status: 'wait', retryAfterSeconds: 5, message: 'add-ons are not there' };
  const hooks = createHookCaller({
    clock: new ManualClock(),
    builtIn: [
      { hook: 'BeforeClusterDelete', name: 'other', call: async () => ({ status: 'failed', message: 'not mine' }) },
      {
        hook: 'BeforeClusterUpgrade',
        name: 'addons',
        concerns: (request) => request.toKubernetesVersion !== 'v1.34.0',
        call: async (request) => {
          seen.push(request.toKubernetesVersion);
          return answer;
        },
      },
    ],
  });
  expect(hooks.isListenedTo('BeforeClusterUpgrade', cluster)).toBe(true);
  expect(await hooks.call('BeforeClusterUpgrade', cluster, upgrade, signal)).toEqual({
    status: 'wait',
    retryAfterSeconds: 5,
    message: 'addons: add-ons are not there',
  });
  const elsewhere = { ...upgrade, toKubernetesVersion: 'v1.34.0' };
  expect(await hooks.call('BeforeClusterUpgrade', cluster, elsewhere, signal)).toEqual({ status: 'go-on' });
  expect(seen).toEqual(['v1.33.0']);
  expect(await hooks.call('BeforeClusterDelete', cluster, { cluster }, signal)).toEqual({
    status: 'failed',
    message: 'other: not mine',
  });
});

test('all extensions are called, the shortest wait counts, and none is called again before it', async () => {
  const clock = new ManualClock();
  const answers = {
    'a.first': { retryAfterSeconds: 30, message: 'draining' },
    'b.second': {},
    'c.third': { retryAfterSeconds: 10, message: 'backing up' },
  };
  const { asked, extensions } = extensionsOf(answers);
  const hooks = createHookCaller({ clock, extensions });
  const first = await hooks.call('BeforeClusterUpgrade', cluster, upgrade, signal);
  expect(first).toEqual({
    status: 'wait',
    retryAfterSeconds: 10,
    message: 'a.first: draining, c.third: backing up',
  });
  expect(asked).toEqual(['a.first', 'b.second', 'c.third']);
  await clock.advance(9_000);
  expect(await hooks.call('BeforeClusterUpgrade', cluster, upgrade, signal)).toMatchObject({ retryAfterSeconds: 1 });
  expect(asked.slice(3)).toEqual(['b.second']);
  await clock.advance(1_000);
  await hooks.call('BeforeClusterUpgrade', cluster, upgrade, signal);
  expect(asked.slice(4)).toEqual(['b.second', 'c.third']);
  // another target version is a new question
  await hooks.call('BeforeClusterUpgrade', cluster, { ...upgrade, toKubernetesVersion: 'v1.33.1' }, signal);
  expect(asked.slice(6)).toEqual(['a.first', 'b.second', 'c.third']);
});

test('a failing handler ends the call with its message, and other errors are thrown', async () => {
  const clock = new ManualClock();
  const failing = extensionsOf({ 'a.first': new HookError('handler a.first: no quota'), 'b.second': {} });
  const hooks = createHookCaller({ clock, extensions: failing.extensions });
  expect(await hooks.call('BeforeClusterUpgrade', cluster, upgrade, signal)).toEqual({
    status: 'failed',
    message: 'handler a.first: no quota',
  });
  expect(failing.asked).toEqual(['a.first']);
  const broken = extensionsOf({ 'a.first': new TypeError('a bug') });
  const others = createHookCaller({ clock, extensions: broken.extensions });
  await expect(others.call('BeforeClusterUpgrade', cluster, upgrade, signal)).rejects.toThrow('a bug');
});

test('pending hooks are stored sorted in one annotation, which is removed with the last of them', () => {
  const draft = { metadata: { name: 'one', annotations: { other: 'x' } as Record<string, string> } };
  markHooksPending(draft, 'AfterWorkersUpgrade', 'AfterClusterUpgrade');
  markHooksPending(draft, 'AfterClusterUpgrade');
  expect(draft.metadata.annotations['runtime.cluster.x-k8s.io/pending-hooks']).toBe(
    'AfterClusterUpgrade,AfterWorkersUpgrade',
  );
  markHookDone(draft, 'AfterWorkersUpgrade');
  expect([isHookPending(draft, 'AfterWorkersUpgrade'), isHookPending(draft, 'AfterClusterUpgrade')]).toEqual([
    false,
    true,
  ]);
  markHookDone(draft, 'AfterClusterUpgrade');
  expect(draft.metadata.annotations).toEqual({ other: 'x' });
  expect(isOkToDelete(draft)).toBe(false);
  markOkToDelete(draft);
  expect(isOkToDelete(draft)).toBe(true);
});
