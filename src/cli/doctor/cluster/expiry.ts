import { failed, fine, type Seen, warned } from '../findings.ts';

const day = 86_400_000;
/** Certificates that expire sooner give a warning. */
export const soonMs: number = 30 * day;

/** Reports the remaining validity of something. */
export function validity(what: string, untilMs: number, { nowMs, cure }: { nowMs: number; cure: string }): Seen {
  const days = Math.floor((untilMs - nowMs) / day);
  const on = new Date(untilMs).toISOString().slice(0, 10);
  if (untilMs <= nowMs) return failed(`${what} has expired on ${on}`, cure);
  const detail = `${what} is valid for ${days} ${days === 1 ? 'day' : 'days'}, until ${on}`;
  return untilMs - nowMs < soonMs ? warned(detail, cure) : fine(detail);
}
