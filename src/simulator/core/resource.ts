import { must } from '../../machinery/index.ts';
import type { Policy } from './caller.ts';
import type { RequestContext } from './http/context.ts';
import type { Answer, Method, Route } from './service.ts';
import type { Row, Table } from './state/table.ts';

export type Operation = 'list' | 'create' | 'show' | 'update' | 'delete';

/**
 * A resource type of a service: its names on the wire, how it is found and rendered, and its operations. Services
 * differ in how they read bodies and in the order of their checks, so each maps its own definitions to this one.
 */
export interface Resource<R> {
  /** path of the collection, for example `/v3/users`; parents are parameters: `/pools/{pool}/members` */
  readonly path: string;
  /** key of one object in bodies, for example `user`; absent: the object is the body, as in glance */
  readonly name?: string;
  /** parameter of the path that names the object; default: `id` */
  readonly parameter?: string;
  /** key of a list, for example `users`; only for resources that can be created in bulk */
  readonly collection?: string;
  /** default: `PUT` */
  readonly updateMethod?: 'PUT' | 'PATCH';
  /** statuses that differ from the usual ones */
  readonly statuses?: Partial<Readonly<Record<Operation, number | ((context: RequestContext) => number)>>>;
  /** rule of the policy file; undefined: any valid token reaches the handler */
  policy?(operation: Operation): Policy | undefined;
  /** microversions with this operation */
  versions?(operation: Operation): Pick<Route, 'since' | 'until'>;
  /** finds the object of the path; refuses if it does not exist or the caller may not use it */
  find(context: RequestContext, operation: Operation): Readonly<R>;
  view(row: Readonly<R>, context: RequestContext, operation: Operation): object;
  list?(context: RequestContext): Answer;
  /** the list with all fields, at the path `detail` of the collection */
  detail?(context: RequestContext): Answer;
  /** returns a list for a bulk request */
  create?(context: RequestContext): Readonly<R> | readonly Readonly<R>[];
  /** headers of the answer to a create request */
  createdHeaders?(row: Readonly<R>, context: RequestContext): Readonly<Record<string, string>>;
  /** reads the body and finds the row, in the order the service does */
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

/** Builds the routes of a resource, one per operation. */
export function resourceRoutes<R extends object>(resource: Resource<R>): Route[] {
  const { path, name, collection } = resource;
  const one = `${path}/{${resource.parameter ?? 'id'}}`;
  const answer = (operation: Operation, context: RequestContext, body?: object): Answer => {
    const status = resource.statuses?.[operation] ?? usualStatuses[operation];
    return { status: typeof status === 'number' ? status : status(context), ...(body && { body }) };
  };
  const shown = (operation: Operation, row: Readonly<R>, context: RequestContext): Answer => {
    const view = resource.view(row, context, operation);
    return answer(operation, context, name === undefined ? view : { [name]: view });
  };
  const route = (
    operation: Operation,
    [method, at]: readonly [Method, string],
    handle: (context: RequestContext) => Answer,
  ): Route => {
    const policy = resource.policy?.(operation);
    return { method, path: at, ...(policy && { policy }), ...resource.versions?.(operation), handle };
  };
  const routes = [route('show', ['GET', one], (context) => shown('show', resource.find(context, 'show'), context))];
  const { list, detail, create, update, delete: remove } = resource;
  if (list) routes.push(route('list', ['GET', path], list));
  if (detail) routes.push(route('list', ['GET', `${path}/detail`], detail));
  if (create) {
    const handle = (context: RequestContext): Answer => {
      const made = create(context);
      if (isSeveral(made)) {
        const views = made.map((row) => resource.view(row, context, 'create'));
        return answer('create', context, { [must(collection, 'collection')]: views });
      }
      const headers = resource.createdHeaders?.(made, context);
      return { ...shown('create', made, context), ...(headers && { headers }) };
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
      return answer('delete', context);
    };
    routes.push(route('delete', ['DELETE', one], handle));
  }
  return routes;
}

function isSeveral<R>(made: Readonly<R> | readonly Readonly<R>[]): made is readonly Readonly<R>[] {
  return Array.isArray(made);
}

/** Returns a row by id, or throws the refusal for an unknown id. */
export function need<R extends Row>(
  table: Pick<Table<R>, 'get'>,
  id: string,
  notFound: (id: string) => Error,
): Readonly<R> {
  const row = table.get(id);
  if (!row) throw notFound(id);
  return row;
}
