import { describe, expect, it } from 'vitest';
import { checkCronSchedule, nextCronTime, parseCronFields } from './cron.ts';

describe('cron schedules', () => {
  it.each([
    '* * * * *',
    '*/5 0-23 1,15 jan-mar MON',
    '0 0 ? * 0',
    '@hourly',
    '@every 1h30m',
    '5/10 * * * *',
    ' 0  0 * * * ',
  ])('accepts %j', (schedule) => {
    expect(checkCronSchedule(schedule)).toEqual([]);
  });

  it.each([
    ['', 'empty spec string'],
    ['x', 'expected exactly 5 fields, found 1: [x]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['@foo', 'unrecognized descriptor: @foo'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ])('refuses %j', (schedule, text) => {
    expect(checkCronSchedule(schedule)).toEqual([text]);
  });

  it('expands ranges, steps, lists and names', () => {
    const schedule = parseCronFields('10-20/5,50 */12 1 feb,dec sun');
    expect(schedule).toEqual({
      minutes: new Set([10, 15, 20, 50]),
      hours: new Set([0, 12]),
      daysOfMonth: new Set([1]),
      months: new Set([2, 12]),
      daysOfWeek: new Set([0]),
      anyDayOfMonth: false,
      anyDayOfWeek: false,
    });
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

  it('counts intervals from the moment given, and knows days that never come', () => {
    expect(nextCronTime('@every 90s', from)).toBe(from + 90_000);
    expect(nextCronTime('0 0 30 2 *', from)).toBeUndefined();
  });
});
