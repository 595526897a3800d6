import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Faults } from './faults.ts';
import { FaultRuleError, parseFaultRule } from './parse-rule.ts';
import type { FaultRule } from './rule.ts';

const request = {
  service: 'compute',
  method: 'GET',
  path: '/v2.1/servers/42',
  projectId: 'p-id',
  projectName: 'p',
};
const effect = { kind: 'gateway-timeout' } as const;

describe('fault rules for requests', () => {
  it.each<[string, FaultRule['when'], boolean]>([
    ['nothing said: everything', {}, true],
    ['the service', { service: 'compute' }, true],
    ['another service', { service: 'network' }, false],
    ['the method in any case', { method: 'get' }, true],
    ['another method', { method: 'POST' }, false],
    ['the path', { path: '/v2.1/servers/42' }, true],
    ['a path that begins so', { path: '/v2.1/servers*' }, true],
    ['a path with something in between', { path: '/v2.1/*/42' }, true],
    ['a path with two gaps', { path: '*servers*' }, true],
    ['pieces that would overlap', { path: '/v2.1/servers/42*2' }, false],
    ['another path', { path: '/v2.1/flavors*' }, false],
    ['the project by name', { project: 'p' }, true],
    ['the project by id', { project: 'p-id' }, true],
    ['another project', { project: 'q' }, false],
  ])('match or miss by %s', (_name, when, strikes) => {
    const faults = new Faults([{ id: 'r', when, effect }]);
    expect(faults.forRequest(request)).toEqual(strikes ? [effect] : []);
  });

  it('apply a number of times, after a number of occasions', () => {
    const faults = new Faults([{ id: 'r', when: {}, after: 2, count: 1, effect }]);
    expect([1, 2, 3, 4].map(() => faults.forRequest(request).length)).toEqual([0, 0, 1, 0]);
    expect(faults.list()).toMatchObject([{ seen: 3, struck: 1 }]);
  });

  it('apply together in the order they were set', () => {
    const latency = { kind: 'latency', ms: 1 } as const;
    const faults = new Faults([
      { id: 'a', when: {}, effect: latency },
      { id: 'b', when: {}, effect },
    ]);
    expect(faults.forRequest(request)).toEqual([latency, effect]);
  });

  it('apply with their probability, the same way for the same seed', () => {
    const play = (seed: number, others: FaultRule[] = []): string => {
      const faults = new Faults([...others, { id: 'r', when: {}, probability: 0.3, seed, effect }]);
      return Array.from({ length: 200 }, () => String(faults.forRequest(request).length)).join('');
    };
    expect(play(7)).toBe(play(7));
    expect(play(7)).not.toBe(play(8));
    const struck = play(7).replaceAll('0', '').length;
    expect(struck).toBeGreaterThan(30);
    expect(struck).toBeLessThan(90);
    // Another rule does not change the random sequence of this one.
    expect(play(7, [{ id: 'other', when: { service: 'image' }, probability: 0.5, effect }])).toBe(play(7));
  });

  it('start over when they are set again and end when they are deleted', () => {
    const faults = new Faults();
    const rule: FaultRule = { id: 'r', when: {}, count: 1, effect };
    faults.set(rule);
    faults.forRequest(request);
    expect(faults.forRequest(request)).toEqual([]);
    faults.set(rule);
    expect(faults.forRequest(request)).toEqual([effect]);
    expect(faults.delete('r')).toBe(true);
    expect(faults.delete('r')).toBe(false);
    expect(faults.anyForRequests).toBe(false);
  });
});

describe('fault rules for outcomes', () => {
  it('apply by operation, name and project', () => {
    const faults = new Faults([
      { id: 'r', when: { operation: 'server.*', name: 'bad-*', project: 'p' }, effect: { kind: 'stuck' } },
    ]);
    const step = { operation: 'server.build', projectId: 'x', projectName: 'p', name: 'bad-1' };
    expect(faults.forOutcome(step)).toEqual({ kind: 'stuck' });
    expect(faults.forOutcome({ ...step, name: 'good' })).toBeUndefined();
    expect(faults.forOutcome({ ...step, operation: 'volume.create' })).toBeUndefined();
    expect(faults.forOutcome({ ...step, projectName: 'q' })).toBeUndefined();
    expect(faults.forRequest(request)).toEqual([]);
  });
});

describe('parsing of a fault rule', () => {
  it.each<unknown>([
    { id: 'a', effect: { kind: 'latency', ms: [1, 5] } },
    { id: 'a', when: { service: 'compute' }, probability: 0.5, count: 3, after: 1, seed: 9, effect: { kind: 'stuck' } },
    { id: 'a', effect: { kind: 'status', status: 429, retryAfter: 3, message: 'slow down' } },
    { id: 'a', effect: { kind: 'status', status: 502, body: '<html>', contentType: 'text/html' } },
    { id: 'a', effect: { kind: 'hang', workDone: true, holdMs: 5 } },
    { id: 'a', effect: { kind: 'reset', workDone: true } },
    { id: 'a', effect: { kind: 'error', message: 'boom' } },
    { id: 'a', effect: { kind: 'over-quota' } },
  ])('accepts %j', (rule) => {
    expect(parseFaultRule(rule)).toEqual({ when: {}, ...(rule as object) });
  });

  it.each<[unknown, string]>([
    [7, 'rule: must be an object'],
    [{ effect: { kind: 'stuck' } }, 'id: is missing'],
    [{ id: 'a', bogus: 1, effect: { kind: 'stuck' } }, 'bogus: is not known'],
    [{ id: 'a', when: { servise: 'x' }, effect: { kind: 'stuck' } }, 'when.servise: is not known'],
    [{ id: 'a', probability: 2, effect: { kind: 'stuck' } }, 'probability: must be a number from 0 to 1'],
    [{ id: 'a', count: -1, effect: { kind: 'stuck' } }, 'count: must be a whole number'],
    [{ id: 'a' }, 'effect: must be an object'],
    [{ id: 'a', effect: { kind: 'bogus' } }, 'effect.kind: must be one of'],
    [{ id: 'a', effect: { kind: 'latency' } }, 'effect.ms: is missing'],
    [{ id: 'a', effect: { kind: 'latency', ms: [5, 1] } }, 'ms: must be milliseconds'],
    [{ id: 'a', effect: { kind: 'status', status: 42 } }, 'status: must be an HTTP status'],
    [{ id: 'a', effect: { kind: 'reset', when: 1 } }, 'effect.when: is not known'],
  ])('refuses %j', (rule, message) => {
    expect(() => parseFaultRule(rule)).toThrow(message);
  });

  it('never throws anything but an error that names the field', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          parseFaultRule(value);
        } catch (error) {
          expect(error).toBeInstanceOf(FaultRuleError);
        }
      }),
    );
  });
});
