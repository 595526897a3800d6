import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextCronTime, parseSchedule, type Schedule } from './schedule.ts';

const at = (text: string): number => Date.parse(text);
const schedule = (text: string, zone?: string): Schedule => parseSchedule(text, zone) as Schedule;
const show = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

describe('a schedule', () => {
  it.each([
    ['* * * * *', undefined, '2026-03-01T10:00:30Z', '2026-03-01T10:01:00.000Z'],
    ['*/15 * * * *', undefined, '2026-03-01T10:00:00Z', '2026-03-01T10:15:00.000Z'],
    ['@hourly', undefined, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00.000Z'],
    ['@daily', undefined, '2026-03-01T10:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['@monthly', undefined, '2026-12-05T10:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['@yearly', undefined, '2026-12-05T10:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['@every 90s', undefined, '2026-03-01T10:00:00Z', '2026-03-01T10:01:30.000Z'],
    ['0 0 29 2 *', undefined, '2026-03-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['30 4 1,15 * 5', undefined, '2026-03-02T00:00:00Z', '2026-03-06T04:30:00.000Z'],
    ['0 3 * * mon-fri', undefined, '2026-03-06T04:00:00Z', '2026-03-09T03:00:00.000Z'],
    ['0 8 * * *', 'Europe/Berlin', '2026-01-10T00:00:00Z', '2026-01-10T07:00:00.000Z'],
    ['0 8 * * *', 'Europe/Berlin', '2026-07-10T00:00:00Z', '2026-07-10T06:00:00.000Z'],
    ['0 0 * * *', 'Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29T22:00:00.000Z'],
    ['0 0 1 * *', 'America/New_York', '2026-10-15T00:00:00Z', '2026-11-01T04:00:00.000Z'],
    ['0 0 30 2 *', undefined, '2026-03-01T00:00:00Z', undefined],
  ])('%s (%s) after %s is due at %s', (text, zone, after, next) => {
    expect(show(schedule(text, zone).next(at(after)))).toBe(next);
  });

  it('finds the last missed moment without looking at all of them', () => {
    const minutely = schedule('* * * * *');
    expect(show(minutely.latest(at('2020-01-01T00:00:00Z'), at('2026-01-01T00:00:30Z')))).toBe(
      '2026-01-01T00:00:00.000Z',
    );
    const yearly = schedule('@yearly');
    expect(show(yearly.latest(at('2024-06-01T00:00:00Z'), at('2026-03-01T00:00:00Z')))).toBe(
      '2026-01-01T00:00:00.000Z',
    );
    expect(yearly.latest(at('2026-01-01T00:00:00Z'), at('2026-03-01T00:00:00Z'))).toBeUndefined();
    expect(show(schedule('@every 10m').latest(at('2026-01-01T00:00:00Z'), at('2026-01-01T00:35:00Z')))).toBe(
      '2026-01-01T00:30:00.000Z',
    );
  });

  it('reports what it cannot read', () => {
    expect(parseSchedule('* * *')).toContain('expected exactly 5 fields');
    expect(parseSchedule('* * * * *', 'Nowhere/City')).toBe('unknown time zone Nowhere/City');
  });

  it('comes after the given moment, at a moment that fits, and never skips one', () => {
    const part = (max: number): fc.Arbitrary<string> =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 0, max }).map(String),
        fc.integer({ min: 1, max: 20 }).map((n) => `*/${n}`),
      );
    fc.assert(
      fc.property(part(59), part(23), fc.integer({ min: 0, max: 30 * 86_400_000 }), (minute, hour, offset) => {
        const some = schedule(`${minute} ${hour} * * *`);
        const from = at('2026-03-10T00:00:00Z') + offset;
        const next = some.next(from)!;
        expect(next).toBeGreaterThan(from);
        expect(some.next(next - 1)).toBe(next);
        expect(some.latest(from, next)).toBe(next);
        expect(some.latest(from, next - 1)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});

describe('the next time of a schedule', () => {
  const from = Date.parse('2026-02-27T22:30:15Z');
  it.each([
    ['every minute', '* * * * *', '2026-02-27T22:31:00Z'],
    ['a time of today', '45 22 * * *', '2026-02-27T22:45:00Z'],
    ['a time that has passed today', '0 12 * * *', '2026-02-28T12:00:00Z'],
    ['steps', '*/20 */6 * * *', '2026-02-28T00:00:00Z'],
    ['a day of the month', '0 0 1 * *', '2026-03-01T00:00:00Z'],
    ['either of two kinds of days', '0 0 15 * mon', '2026-03-02T00:00:00Z'],
    ['the 29th of February', '0 0 29 2 *', '2028-02-29T00:00:00Z'],
    ['a name', '@daily', '2026-02-28T00:00:00Z'],
  ])('is right for %s', (_, spec, expected) => {
    expect(new Date(nextCronTime(spec, from) ?? 0).toISOString()).toBe(expected.replace('Z', '.000Z'));
  });

  it('counts intervals from the given moment and recognizes days that never come', () => {
    expect(nextCronTime('@every 90s', from)).toBe(from + 90_000);
    expect(nextCronTime('0 0 30 2 *', from)).toBeUndefined();
  });
});
