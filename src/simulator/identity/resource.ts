import type { RequestContext } from '../core/http/context.ts';
import { need, type Operation, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import type { Row, Table } from '../core/state/table.ts';
import { type Fields, wrapped } from './body.ts';
import { type FilterValue, filterBy } from './filters.ts';
import { notAllowed, notFound } from './refusals.ts';
import { listAnswer } from './rendering.ts';

/**
 * A resource type of keystone: its names, and how it is read, written and rendered. Administrators may perform all
 * operations.
 */
export interface IdentityResource<R extends Row> {
  /** for example `user` */
  readonly name: string;
  /** for example `users` */
  readonly collection: string;
  readonly rows: Pick<Table<R>, 'get' | 'all'>;
  readonly filters: Readonly<Record<string, (row: Readonly<R>) => FilterValue>>;
  /** additional condition of a list besides the filters */
  isListed?(context: RequestContext): (row: Readonly<R>) => boolean;
  /** who may read an object without being an administrator */
  maySee?(context: RequestContext): boolean;
  view(context: RequestContext, row: Readonly<R>): object;
  create(fields: Fields, context: RequestContext): Readonly<R>;
  update(row: Readonly<R>, fields: Fields): Readonly<R>;
  delete(row: Readonly<R>): void;
}

export function adminOnly(rule: string): NonNullable<Route['policy']> {
  return { name: `identity:${rule}`, level: 'admin' };
}

/** Builds the routes of a resource. Keystone finds the object before it reads the body. */
export function identityRoutes<R extends Row>(resource: IdentityResource<R>): Route[] {
  const { name, collection, rows } = resource;
  const rules: Readonly<Record<Operation, string>> = {
    list: `list_${collection}`,
    create: `create_${name}`,
    show: `get_${name}`,
    update: `update_${name}`,
    delete: `delete_${name}`,
  };
  const find = (context: RequestContext): Readonly<R> => need(rows, context.param('id'), (id) => notFound(name, id));
  return resourceRoutes<R>({
    path: `/v3/${collection}`,
    name,
    updateMethod: 'PATCH',
    policy: (operation) => (operation === 'show' && resource.maySee ? undefined : adminOnly(rules[operation])),
    find(context, operation) {
      const isHidden = operation === 'show' && resource.maySee && !context.caller.isAdmin && !resource.maySee(context);
      if (isHidden) throw notAllowed(`identity:${rules.show}`);
      return find(context);
    },
    view: (row, context) => resource.view(context, row),
    list(context) {
      const matches = filterBy<R>(context, resource.filters);
      const isListed = resource.isListed?.(context) ?? (() => true);
      const found = [...rows.all()].filter((row) => matches(row) && isListed(row));
      return listAnswer(
        context,
        collection,
        found.map((row) => resource.view(context, row)),
      );
    },
    create: (context) => resource.create(wrapped(context, name), context),
    update: (context) => resource.update(find(context), wrapped(context, name)),
    delete: (row) => resource.delete(row),
  });
}
