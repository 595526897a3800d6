import type { JsonObject } from '../../machinery/index.ts';
import { isNotFound, OpenStackError } from '../errors/openstack-error.ts';
import { filterQuery, type Query, segment } from '../http/query.ts';
import type { Call, CallOptions, ServiceClient } from '../http/service-client.ts';
import { type ListOptions, pages } from './pages.ts';

/** Read methods of all resource types, as far as the service supports them. */
export interface Readable<T, Filter> {
  /** all matches, page by page */
  list(filter?: Filter, options?: ListOptions): AsyncGenerator<T>;
  /** one by id; fails with kind `notFound` */
  get(id: string, options?: CallOptions): Promise<T>;
  /** the only one with this name; undefined if there is none, fails with kind `ambiguous` if there are several */
  find(name: string, filter?: Filter, options?: CallOptions): Promise<T | undefined>;
}

export interface Creatable<Created, Spec> {
  create(desired: Spec, options?: CallOptions): Promise<Created>;
}

export interface Updatable<T, Changes> {
  update(id: string, changes: Changes, options?: CallOptions): Promise<T>;
}

export interface Deletable {
  /** returns false if it was already gone */
  delete(id: string, options?: CallOptions): Promise<boolean>;
}

export interface Collection<T, Spec, Changes, Filter>
  extends Readable<T, Filter>,
    Creatable<T, Spec>,
    Updatable<T, Changes>,
    Deletable {}

/** Wire format of a resource type. */
export interface ReadableDefinition<T, Filter> {
  /** path of the collection, starting with a slash */
  readonly path: string;
  /** path of the detailed list, if it differs from the collection */
  readonly listPath?: string;
  /** key that wraps a single resource; null without a wrapper */
  readonly one: string | null;
  readonly many: string;
  parse(value: JsonObject): T;
  /** filter names that are not simply snake_case */
  readonly spelling?: Readonly<Record<string, string>>;
  /** converts filters whose values also need a conversion */
  query?(filter: Filter): Query;
  /** name filter; default: `name=…` */
  nameQuery?(name: string): Query;
  /** page size, if the cloud's default is too small */
  readonly pageSize?: number;
}

export interface CollectionDefinition<T, Spec, Changes, Filter> extends ReadableDefinition<T, Filter> {
  /** body of a create, without the wrapper key */
  desired(desired: Spec): object;
  changes(changes: Changes): object;
}

type NamedResource = { readonly id: string; readonly name: string };

export function readable<T extends NamedResource, Filter extends object>(
  service: ServiceClient,
  definition: ReadableDefinition<T, Filter>,
): Readable<T, Filter> {
  const { path, one, many, parse } = definition;
  const query = (filter: Filter | undefined): Query =>
    filter && definition.query ? definition.query(filter) : filterQuery(filter, definition.spelling);
  async function* list(given: Query, options: ListOptions): AsyncGenerator<T> {
    const pageSize = options.pageSize ?? definition.pageSize;
    const source = { path: definition.listPath ?? path, many, query: given };
    for await (const page of pages(service, source, { ...options, pageSize })) yield* page.many(many, parse);
  }
  return {
    list: (filter, options = {}) => list(query(filter), options),
    async get(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: `${path}/${segment(id)}`, ...options });
      return one === null ? answer.whole(parse) : answer.one(one, parse);
    },
    async find(name, filter, options = {}) {
      const byName = definition.nameQuery?.(name) ?? { name };
      const found: T[] = [];
      for await (const item of list({ ...query(filter), ...byName }, options)) {
        // Some services match names loosely: glance ignores case, nova uses regular expressions.
        if (item.name === name) found.push(item);
      }
      return onlyOne(service.type, many, name, found);
    },
  };
}

export function collection<T extends NamedResource, Spec, Changes, Filter extends object>(
  service: ServiceClient,
  definition: CollectionDefinition<T, Spec, Changes, Filter>,
): Collection<T, Spec, Changes, Filter> {
  const { path, one, parse } = definition;
  const wrap = (body: object): object => (one === null ? body : { [one]: body });
  return {
    ...readable(service, definition),
    async create(desired, options = {}) {
      const answer = await service.request({
        method: 'POST',
        path,
        json: wrap(definition.desired(desired)),
        ...options,
      });
      return one === null ? answer.whole(parse) : answer.one(one, parse);
    },
    async update(id, changes, options = {}) {
      const json = wrap(definition.changes(changes));
      const answer = await service.request({ method: 'PUT', path: `${path}/${segment(id)}`, json, ...options });
      return one === null ? answer.whole(parse) : answer.one(one, parse);
    },
    delete: (id, options = {}) => deleteAt(service, `${path}/${segment(id)}`, options),
  };
}

/** Returns false if there was nothing to delete. */
export async function deleteAt(
  service: ServiceClient,
  path: string,
  options: CallOptions & Pick<Call, 'query' | 'microversion' | 'needs'> = {},
): Promise<boolean> {
  try {
    await service.request({ method: 'DELETE', path, ...options });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Returns the only match, or undefined. Several matches are an error that the user must resolve. */
export function onlyOne<T extends { readonly id: string }>(
  service: string,
  kind: string,
  name: string,
  found: readonly T[],
): T | undefined {
  if (found.length <= 1) return found[0];
  throw new OpenStackError({
    kind: 'ambiguous',
    service,
    detail: `there are ${found.length} ${kind.replaceAll('_', ' ')} named "${name}" (${found
      .slice(0, 5)
      .map(({ id }) => id)
      .join(', ')}${found.length > 5 ? ', …' : ''})`,
    cure: 'use its id, or give it a unique name',
  });
}
