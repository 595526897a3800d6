const pattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch of an RFC 3339 time; undefined when the text is none, however much it looks like a date. */
export function parseRfc3339(text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
