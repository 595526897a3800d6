import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { parseTimeout, withDeadline } from './deadline.ts';

describe('--timeout', () => {
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5m', 90_000],
    ['250ms', 250],
  ])('%s is parsed as %i ms', (text, ms) => {
    expect(parseTimeout(text)).toBe(ms);
  });

  it.each(['', '-1s', '10x', 's', '10m 5'])('"%s" is refused', (text) => {
    expect(() => parseTimeout(text)).toThrow(`--timeout: "${text}" is not a duration`);
  });

  it('aborts at the deadline and not before', async () => {
    const clock = new ManualClock();
    const deadline = withDeadline(clock, 1000, new AbortController().signal);
    await clock.advance(999);
    expect(deadline.timedOut()).toBe(false);
    await clock.advance(1);
    expect(deadline.timedOut()).toBe(true);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('does not report a timeout when the user aborts', () => {
    const user = new AbortController();
    const deadline = withDeadline(new ManualClock(), 1000, user.signal);
    user.abort();
    expect(deadline.signal.aborted).toBe(true);
    expect(deadline.timedOut()).toBe(false);
    deadline.cancel();
  });
});
