import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod } from '../../../api/index.ts';
import { problemOf } from './sets.ts';

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const ended = (message: string): NonNullable<ContainerStatus['lastState']> => ({
  terminated: { exitCode: 1, message },
});
const container = (name: string, more: Partial<ContainerStatus>): ContainerStatus => ({
  name,
  image: name,
  imageID: name,
  ready: false,
  restartCount: 0,
  ...more,
});
const pod = (containerStatuses: ContainerStatus[], ready = 'False'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [] },
  status: { containerStatuses, conditions: [{ type: 'Ready', status: ready }] },
});

describe('the reported problem of a Pod', () => {
  it.each<[string, Pod, string | undefined]>([
    [
      'nothing while it starts',
      pod([container('a', { state: { waiting: { reason: 'ContainerCreating' } } })]),
      undefined,
    ],
    [
      'why a container waits',
      pod([container('a', { state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } })]),
      'Pod p, container a: ErrImagePull: no such image',
    ],
    [
      'what it said at its end rather than that it waits',
      pod([
        container('a', {
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
          lastState: ended('bad flag'),
        }),
      ]),
      'Pod p, container a: CrashLoopBackOff: bad flag',
    ],
    [
      'also the one it fails because of, which runs once more',
      pod([
        container('api', { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended('no socket\n') }),
        container('kine', { state: running, ready: true, lastState: ended('no such host') }),
      ]),
      'Pod p, container api: CrashLoopBackOff: no socket; container kine ended: no such host',
    ],
    ['nothing of what is over', pod([container('a', { state: running, lastState: ended('was') })], 'True'), undefined],
  ])('is %s', (_, object, problem) => {
    expect(problemOf(object)).toBe(problem);
  });
});
