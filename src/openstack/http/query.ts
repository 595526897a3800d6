/** A query: lists are repeated, undefined is left out. */
export type Query = Readonly<Record<string, QueryValue>>;
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** `?a=b&c=d`, or nothing. */
export function queryText(query: Query | undefined): string {
  if (!query) return '';
  let text = '';
  for (const name in query) {
    const value = query[name];
    if (value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) {
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`;
    }
  }
  return text;
}

/** One segment of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

/** camelCase to snake_case: the names of members as OpenStack spells them. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A filter as a query: names in snake_case, except those that are spelt in another way. */
export function filterQuery(filter: object | undefined, spelling: Readonly<Record<string, string>> = {}): Query {
  const query: Record<string, QueryValue> = {};
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (value !== undefined) query[spelling[name] ?? snakeCase(name)] = value as QueryValue;
  }
  return query;
}
