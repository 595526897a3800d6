const form =
  /^(\d{4})(?:(?:-(\d{1,2})|(\d{2})(?!$))(?:(?:-(\d{1,2})|(\d{2}))(?:[ T](\d{2})(?::?(\d{2}))?(?::?(\d{1,2})(?:[.,](\d{1,20}))?)?(Z|([-+])(\d{2}):?(\d{2})?)?)?)?)?$/;

/**
 * Parses a timestamp in any form that Python's `iso8601` accepts, as nova and glance do. Parts may be missing from the
 * right (`2026`, `2026-11`), separators may be missing (`20261115T0347`), and the default zone is UTC. Returns
 * milliseconds since the epoch, or undefined if the text is invalid.
 */
export function parseIso8601(text: string): number | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const number = (group: number, otherwise: number): number =>
    match[group] === undefined ? otherwise : Number(match[group]);
  const [year, month, day] = [number(1, 0), number(2, number(3, 1)), number(4, number(5, 1))];
  const [hour, minute, second] = [number(6, 0), number(7, 0), number(8, 0)];
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
  // `Date.UTC` maps years below 100 to the 20th century.
  date.setUTCFullYear(year, month - 1, day);
  const isReal =
    year > 0 &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  if (!isReal) return undefined;
  const fraction = match[9] === undefined ? 0 : Math.floor(Number(`0.${match[9]}`) * 1000);
  const offset = (match[11] === '-' ? -1 : 1) * (number(12, 0) * 60 + number(13, 0));
  return date.getTime() + fraction - offset * 60_000;
}
