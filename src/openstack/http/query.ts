/** A query: lists become repeated parameters, undefined is omitted. */
export type Query = Readonly<Record<string, QueryValue>>;
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Formats `?a=b&c=d`, or an empty text. */
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

/** Encodes one segment of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

/** Converts camelCase to snake_case, the spelling of OpenStack. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a filter to a query. Names become snake_case unless `spelling` names another form. */
export function filterQuery(filter: object | undefined, spelling: Readonly<Record<string, string>> = {}): Query {
  const query: Record<string, QueryValue> = {};
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (value !== undefined) query[spelling[name] ?? snakeCase(name)] = value as QueryValue;
  }
  return query;
}
