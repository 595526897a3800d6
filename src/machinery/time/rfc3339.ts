const pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * Parses an RFC 3339 time to milliseconds since the epoch. Undefined for anything else, including other date formats.
 */
export function parseRfc3339(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
