import type { Policy } from './caller.ts';
import type { RequestContext } from './http/context.ts';
import type { Answer, Method, Route } from './service.ts';
import type { Row, Table } from './state/table.ts';

export type Operation = 'list' | 'create' | 'show' | 'update' | 'delete';

/**
 * What a service serves under one path, defined once: its names on the wire, how one is found and shown, and the
 * operations there are. How bodies are read, who may do what and in which order that is checked differs between the
 * services: each has its own way from its definitions to this one.
 */
export interface Resource<R> {
  /** of the collection: `/v3/users`; parents are parameters: `/pools/{pool}/members` */
  readonly path: string;
  /** the key of one object: `user` */
  readonly name: string;
  /** the key of several: `users`; only where several can be created at once */
  readonly collection?: string;
  /** `PUT` unless said */
  readonly updateMethod?: 'PUT' | 'PATCH';
  /** where they are not the usual ones */
  readonly statuses?: Partial<Readonly<Record<Operation, number>>>;
  /** the rule of the policy file; undefined: anybody with a valid token comes as far as the handler */
  policy?(operation: Operation): Policy | undefined;
  /** the microversions that have it */
  versions?(operation: Operation): Pick<Route, 'since' | 'until'>;
  /** the one the path names; refuses what is not there, or not for the caller */
  find(context: RequestContext, operation: Operation): Readonly<R>;
  view(row: Readonly<R>, context: RequestContext, operation: Operation): object;
  list?(context: RequestContext): Answer;
  /** a list when several were asked for */
  create?(context: RequestContext): Readonly<R> | readonly Readonly<R>[];
  /** reads the body and finds the row, in the order of the service */
  update?(context: RequestContext): Readonly<R>;
  delete?(row: Readonly<R>, context: RequestContext): void;
}

const usualStatuses: Readonly<Record<Operation, number>> = {
  list: 200,
  create: 201,
  show: 200,
  update: 200,
  delete: 204,
};

/** The routes of a resource: one for each operation it has. */
export function resourceRoutes<R extends object>(resource: Resource<R>): Route[] {
  const { path, name, collection = name } = resource;
  const one = `${path}/{id}`;
  const answer = (operation: Operation, body?: object): Answer => ({
    status: resource.statuses?.[operation] ?? usualStatuses[operation],
    ...(body && { body }),
  });
  const shown = (operation: Operation, row: Readonly<R>, context: RequestContext): Answer =>
    answer(operation, { [name]: resource.view(row, context, operation) });
  const route = (
    operation: Operation,
    [method, at]: readonly [Method, string],
    handle: (context: RequestContext) => Answer,
  ): Route => {
    const policy = resource.policy?.(operation);
    return { method, path: at, ...(policy && { policy }), ...resource.versions?.(operation), handle };
  };
  const routes = [route('show', ['GET', one], (context) => shown('show', resource.find(context, 'show'), context))];
  const { list, create, update, delete: remove } = resource;
  if (list) routes.push(route('list', ['GET', path], list));
  if (create) {
    const handle = (context: RequestContext): Answer => {
      const made = create(context);
      if (!isSeveral(made)) return shown('create', made, context);
      return answer('create', { [collection]: made.map((row) => resource.view(row, context, 'create')) });
    };
    routes.push(route('create', ['POST', path], handle));
  }
  if (update) {
    const handle = (context: RequestContext): Answer => shown('update', update(context), context);
    routes.push(route('update', [resource.updateMethod ?? 'PUT', one], handle));
  }
  if (remove) {
    const handle = (context: RequestContext): Answer => {
      remove(resource.find(context, 'delete'), context);
      return answer('delete');
    };
    routes.push(route('delete', ['DELETE', one], handle));
  }
  return routes;
}

function isSeveral<R>(made: Readonly<R> | readonly Readonly<R>[]): made is readonly Readonly<R>[] {
  return Array.isArray(made);
}

/** A row by its id, or the refusal that it is unknown. */
export function need<R extends Row>(
  table: Pick<Table<R>, 'get'>,
  id: string,
  notFound: (id: string) => Error,
): Readonly<R> {
  const row = table.get(id);
  if (!row) throw notFound(id);
  return row;
}
