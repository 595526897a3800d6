import { pythonRepr } from '../../core/checks/python.ts';
import type { RequestContext } from '../../core/http/context.ts';
import { badBody, badRequest } from '../refusals.ts';
import type { Attributes } from './attribute.ts';

export interface SortOrder {
  readonly key: string;
  readonly isDescending: boolean;
}

/** Parsed and converted parameters of a list. */
export interface ListQuery {
  /** attribute -> values, of which any may match */
  readonly filters: ReadonlyMap<string, readonly unknown[]>;
  /** empty: all */
  readonly fields: readonly string[];
  readonly sorts: readonly SortOrder[];
  /** undefined: no paging */
  readonly limit: number | undefined;
  readonly marker: string | undefined;
  readonly isReverse: boolean;
}

const notFilters = new Set(['fields', 'sort_key', 'sort_dir', 'limit', 'marker', 'page_reverse']);
const tagFilters = new Set(['tags', 'tags-any', 'not-tags', 'not-tags-any']);

/** Parses the parameters of a list. Refuses attributes that do not support filtering or sorting. */
export function readListQuery(context: RequestContext, attributes: Attributes): ListQuery {
  const { query } = context;
  const sorts = readSorts(query.all('sort_key'), query.all('sort_dir'), attributes);
  const limit = readLimit(query.get('limit'));
  return {
    filters: readFilters(query.entries, attributes),
    fields: fieldsOf(context),
    sorts,
    limit,
    marker: limit === undefined ? undefined : query.get('marker'),
    isReverse: query.get('page_reverse')?.toLowerCase() === 'true',
  };
}

/** Returns the attributes requested with `fields`. */
export function fieldsOf(context: RequestContext): readonly string[] {
  return context.query.all('fields').filter((name) => name !== '');
}

/** Selects the requested attributes. */
export function pickFields(object: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  if (fields.length === 0) return object;
  const picked: Record<string, unknown> = {};
  for (const name in object) if (fields.includes(name)) picked[name] = object[name];
  return picked;
}

function readFilters(
  entries: readonly (readonly [string, string])[],
  attributes: Attributes,
): Map<string, readonly unknown[]> {
  const filters = new Map<string, unknown[]>();
  const unknown: string[] = [];
  for (const [given, value] of entries) {
    if (notFilters.has(given)) continue;
    const name = given === 'project_id' ? 'tenant_id' : given;
    const attribute = attributes[name];
    if (!attribute?.filter) {
      if (!unknown.includes(given)) unknown.push(given);
      continue;
    }
    const values = filters.get(name) ?? [];
    filters.set(name, values);
    if (tagFilters.has(name)) values.push(...value.split(',').filter((tag) => tag !== ''));
    else values.push((attribute.convertFilter ?? attribute.convert)?.(value) ?? value);
  }
  if (unknown.length > 0) throw badBody(`${pythonRepr(unknown)} is invalid attribute for filtering`);
  return filters;
}

function readSorts(keys: readonly string[], directions: readonly string[], attributes: Attributes): SortOrder[] {
  if (keys.length !== directions.length) throw badBody('The number of sort_keys and sort_dirs must be same');
  const names = keys.map((key) => (key === 'project_id' ? 'tenant_id' : key));
  const unknown = names.filter((name) => !attributes[name]?.sort);
  if (unknown.length > 0) throw badBody(`${pythonRepr(unknown)} is invalid attribute for sort_keys`);
  const wrong = directions.filter((direction) => direction !== 'asc' && direction !== 'desc');
  if (wrong.length > 0) {
    throw badBody(`${pythonRepr(wrong)} is invalid value for sort_dirs, valid value is 'asc' and 'desc'`);
  }
  return names.map((key, index) => ({ key, isDescending: directions[index] === 'desc' }));
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\s*\+?\d+\s*$/.test(text)) {
    throw badRequest('limit', `Limit must be an integer 0 or greater and not '${text}'`);
  }
  return Number(text) || undefined;
}
