import { describe, expect, it } from 'vitest';
import { OpenStackError, type OpenStackErrorKind } from '../../../openstack/index.ts';
import { attempt, CloudFault, cloudFaultOf, mayHaveHappened, UnusableInput } from './outcomes.ts';

const failure = (kind: OpenStackErrorKind, more: object = {}): OpenStackError =>
  new OpenStackError({
    kind,
    service: 'network',
    detail: 'No more addresses.',
    cure: 'free some',
    method: 'POST',
    path: '/ports',
    status: 409,
    requestId: 'req-1',
    ...more,
  });

describe('a cloud fault', () => {
  it('has a stable message with the action, the words of the cloud and the cure', () => {
    const first = cloudFaultOf(failure('conflict'), 'port p could not be created', 'PortCreateFailed');
    const second = cloudFaultOf(failure('conflict', { requestId: 'req-2' }), 'port p could not be created');
    expect(first.message).toBe('port p could not be created: network: No more addresses; free some');
    expect(first.reason).toBe('PortCreateFailed');
    expect(second.message).toBe(first.message);
  });

  it.each<[string, OpenStackErrorKind, object, number | undefined]>([
    ['comes again when the cloud says so', 'tooMany', { retryAfterMs: 45_000 }, 45_000],
    ['leaves a busy load balancer a moment', 'immutable', {}, 2_000],
    ['is left to the back-off of the queue otherwise', 'quota', {}, undefined],
  ])('%s', (_, kind, more, retryMs) => {
    expect(cloudFaultOf(failure(kind, more), 'x').retryMs).toBe(retryMs);
  });

  it('keeps its own message when it already is a fault', async () => {
    const input = new UnusableInput('spec.network: no such network');
    await expect(attempt('the network could not be found', 'R', () => Promise.reject(input))).rejects.toBe(input);
    await expect(attempt('x', 'R', () => Promise.reject(new TypeError('bug')))).rejects.toBeInstanceOf(CloudFault);
  });
});

describe('a failed cloud call', () => {
  it.each<[OpenStackErrorKind, boolean, boolean]>([
    ['network', false, true],
    ['network', true, false],
    ['timeout', false, true],
    ['unavailable', false, true],
    ['quota', false, false],
    ['conflict', false, false],
    ['notFound', false, false],
  ])('with %s (not sent: %s) may have been carried out: %s', (kind, notSent, expected) => {
    expect(mayHaveHappened(failure(kind, { notSent }))).toBe(expected);
  });
});
