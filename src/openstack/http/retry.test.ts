import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../machinery/index.ts';
import { OpenStackError, type OpenStackErrorOptions } from '../errors/openstack-error.ts';
import { type Attempt, defaultPatience, pauseBefore } from './retry.ts';

const random = seededRandom(7);
const failure = (options: Partial<OpenStackErrorOptions>): OpenStackError =>
  new OpenStackError({ kind: 'internal', service: 'compute', detail: 'x', ...options });
const first: Attempt = { number: 1, repeatable: true, waitedMs: 0 };
const pause = (options: Partial<OpenStackErrorOptions>, attempt: Partial<Attempt> = {}): number | undefined =>
  pauseBefore(failure(options), { ...first, ...attempt }, defaultPatience, random);

describe('retries of requests', () => {
  it.each<[string, Partial<OpenStackErrorOptions>, boolean, boolean]>([
    ['a connection refused', { kind: 'network', notSent: true }, true, true],
    ['a connection broken', { kind: 'network' }, true, false],
    ['no answer in time', { kind: 'timeout' }, true, false],
    ['too many requests', { kind: 'tooMany', status: 429 }, true, true],
    ['a bad gateway', { kind: 'unavailable', status: 502 }, true, false],
    ['a service away', { kind: 'unavailable', status: 503 }, true, false],
    ['a busy load balancer', { kind: 'immutable', status: 409 }, true, true],
    ['a failure of the service', { kind: 'internal', status: 500 }, false, false],
    ['a conflict', { kind: 'conflict', status: 409 }, false, false],
    ['a quota', { kind: 'quota', status: 403 }, false, false],
    ['a TLS failure', { kind: 'tls', notSent: true }, false, false],
  ])('decide by the failure: %s', (_name, options, repeatable, once) => {
    expect(pause(options) !== undefined).toBe(repeatable);
    expect(pause(options, { repeatable: false }) !== undefined).toBe(once);
  });

  it('wait at least as long as the cloud asks', () => {
    for (let i = 0; i < 50; i++) {
      expect(pause({ kind: 'tooMany', retryAfterMs: 3000 })).toBeGreaterThanOrEqual(3000);
    }
  });

  it('leave a longer wait to the caller', () => {
    expect(pause({ kind: 'tooMany', retryAfterMs: 31_000 })).toBeUndefined();
  });

  it('give up after some attempts, with pauses longer than the last', () => {
    const pauses = [1, 2, 3, 4].map((number) => pause({ kind: 'timeout' }, { number }));
    expect(pauses[3]).toBeUndefined();
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(pauses[2]).toBeGreaterThan(500);
  });

  it('wait for a busy load balancer for a limited time', () => {
    expect(pause({ kind: 'immutable' }, { number: 3, waitedMs: 3000 })).toBeGreaterThan(0);
    expect(pause({ kind: 'immutable' }, { number: 8, waitedMs: 4900 })).toBeUndefined();
  });
});
