import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer } from '../core/service.ts';
import type { Row, Table } from '../core/state/table.ts';
import { checkRead, seesEverything } from './access.ts';
import { asPage } from './refusals.ts';

/** A resource that can be listed: rows with a project and times, and their rendering. */
export interface Listed<R extends ListedRow> {
  /** for example `listeners` */
  readonly collection: string;
  readonly table: Table<R>;
  view(row: Readonly<R>): Record<string, unknown>;
  /** columns for filters and sort keys, besides the common ones */
  readonly filters: readonly string[];
}

export interface ListedRow extends Row {
  readonly project_id: string;
  readonly created_at: number;
  readonly tags?: readonly string[];
}

const auxiliary = new Set(['limit', 'marker', 'sort', 'sort_key', 'sort_dir', 'fields', 'page_reverse']);
const tagFilters = new Set(['tags', 'tags-any', 'not-tags', 'not-tags-any']);

/** Answers a list: filters, sorts, pages, and selects the requested fields. */
export function listAnswer<R extends ListedRow>(
  context: RequestContext,
  listed: Listed<R>,
  candidates?: Iterable<Readonly<R>>,
): Answer {
  const { caller } = context;
  const asked = context.query.get('project_id') ?? context.query.get('tenant_id');
  checkRead(caller, asked ?? caller.projectId);
  const limit = readLimit(context);
  const sorts = readSorts(context);
  const filters = readFilters(context, listed.filters);
  const own = seesEverything(caller) ? undefined : caller.projectId;
  const rows = candidates ?? (own === undefined ? listed.table.all() : listed.table.by('project', own));
  const found: Readonly<R>[] = [];
  for (const row of rows) {
    if (own !== undefined && row.project_id !== own) continue;
    if (filters.every(([name, values]) => matches(row, name, values))) found.push(row);
  }
  const ordered = sortRows(found, sorts, listed);
  const { page, links } = cutPage(context, ordered, listed.table, limit);
  const items = page.map((row) => pick(listed.view(row), context));
  return { status: 200, body: { [listed.collection]: items, [`${listed.collection}_links`]: links } };
}

/** Parses a boolean query parameter. */
export function isTrue(argument: string | undefined): boolean {
  return ['true', '1', 'yes', 'on', 't', 'y'].includes(argument?.toLowerCase() ?? '');
}

/** Selects the requested fields of an object. */
export function pick(object: Record<string, unknown>, context: RequestContext): Record<string, unknown> {
  const fields = context.query.all('fields');
  if (fields.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => fields.includes(name)));
}

function read<R extends ListedRow>(row: Readonly<R>, name: string): unknown {
  return row[name as keyof R];
}

function readFilters(context: RequestContext, known: readonly string[]): [name: string, values: string[]][] {
  const filters = new Map<string, string[]>();
  for (const [given, value] of context.query.entries) {
    if (auxiliary.has(given)) continue;
    const name = given === 'tenant_id' ? 'project_id' : given;
    if (!known.includes(name) && !tagFilters.has(name) && !common.has(name)) {
      throw new Refusal(400, 'One or more arguments are either duplicate or invalid');
    }
    const values = tagFilters.has(name) ? value.split(',') : [value];
    filters.set(name, [...(filters.get(name) ?? []), ...values]);
  }
  return [...filters];
}

const common = new Set([
  'id',
  'name',
  'description',
  'project_id',
  'admin_state_up',
  'provisioning_status',
  'operating_status',
  'created_at',
  'updated_at',
]);

function matches<R extends ListedRow>(row: Readonly<R>, name: string, values: readonly string[]): boolean {
  const tags: readonly string[] = row.tags ?? [];
  switch (name) {
    case 'tags':
      return values.every((tag) => tags.includes(tag));
    case 'tags-any':
      return values.some((tag) => tags.includes(tag));
    case 'not-tags':
      return !values.every((tag) => tags.includes(tag));
    case 'not-tags-any':
      return !values.some((tag) => tags.includes(tag));
  }
  const value = read(row, name);
  if (value === null || value === undefined) return false;
  const text = String(value).toLowerCase();
  return values.some((each) => each.toLowerCase() === text);
}

interface Sort {
  readonly key: string;
  readonly isDescending: boolean;
}

function readSorts(context: RequestContext): Sort[] {
  const direction = (text: string | undefined): boolean => {
    const lower = (text ?? 'asc').toLowerCase();
    if (lower !== 'asc' && lower !== 'desc') throw asPage(400, `Supplied sort direction '${lower}' is not valid.`);
    return lower === 'desc';
  };
  const sort = context.query.get('sort');
  if (sort !== undefined) {
    return sort.split(',').map((part) => {
      const [key = '', dir] = part.split(':');
      return { key, isDescending: direction(dir) };
    });
  }
  const keys = context.query.get('sort_key');
  if (keys === undefined) return [];
  const directions = context.query.get('sort_dir')?.split(',') ?? [];
  return keys.split(',').map((key, index) => ({ key, isDescending: direction(directions[index]) }));
}

function sortRows<R extends ListedRow>(rows: Readonly<R>[], sorts: readonly Sort[], listed: Listed<R>): Readonly<R>[] {
  for (const { key } of sorts) {
    if (!listed.filters.includes(key) && !common.has(key)) {
      throw new Refusal(400, `Supplied sort key '${key}' is not valid.`);
    }
  }
  const keys = [...sorts, { key: 'created_at', isDescending: false }, { key: 'id', isDescending: false }];
  return rows.sort((a, b) => {
    for (const { key, isDescending } of keys) {
      const [left, right] = [sortable(read(a, key)), sortable(read(b, key))];
      if (left === right) continue;
      return left < right === isDescending ? 1 : -1;
    }
    return 0;
  });
}

function sortable(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value ?? '').toLowerCase();
}

function readLimit(context: RequestContext): number | undefined {
  const text = context.query.get('limit');
  if (text === undefined || text === 'infinite') return undefined;
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw asPage(400, `Supplied pagination limit '${text}' is not valid.`);
  const limit = Number(text);
  return limit < 1 ? undefined : limit;
}

function cutPage<R extends ListedRow>(
  context: RequestContext,
  rows: readonly Readonly<R>[],
  table: Table<R>,
  limit: number | undefined,
): { page: readonly Readonly<R>[]; links: { href: string; rel: string }[] } {
  const marker = context.query.get('marker');
  const isReverse = context.query.get('page_reverse')?.toLowerCase() === 'true';
  if (marker !== undefined && !table.has(marker)) {
    throw new Refusal(400, `Supplied pagination marker '${marker}' is not valid.`);
  }
  const at = marker === undefined ? -1 : rows.findIndex(({ id }) => id === marker);
  let page = rows;
  if (isReverse) {
    const before = at < 0 ? rows : rows.slice(0, at);
    page = limit === undefined ? before : before.slice(Math.max(0, before.length - limit));
  } else {
    page = rows.slice(at + 1, limit === undefined ? undefined : at + 1 + limit);
  }
  if (limit === undefined || page.length === 0) return { page, links: [] };
  const kept = ['limit', 'sort', 'sort_key'].flatMap((name) => {
    const value = name === 'limit' ? String(limit) : context.query.get(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const href = (...more: string[]): string => `${context.serviceUrl}${context.path}?${[...kept, ...more].join('&')}`;
  const links: { href: string; rel: string }[] = [];
  if (marker !== undefined)
    links.push({ href: href(`marker=${must(page[0], 'the first of page').id}`, 'page_reverse=True'), rel: 'previous' });
  if (page.length >= limit)
    links.push({ href: href(`marker=${must(page.at(-1), 'the last of page').id}`), rel: 'next' });
  return { page, links };
}
