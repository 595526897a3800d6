import { describe, expect, it } from 'vitest';
import { checkCronSchedule, parseCronFields } from './cron.ts';

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
