import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import type { Row } from '../core/state/table.ts';
import { checkRead, checkWrite } from './access.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { pick } from './listing.ts';

/** A kind of object octavia serves: how it is named, read, written and shown. */
export interface OctaviaResource<R extends Row> {
  /** below the version: `listeners`, `pools/{pool}/members` */
  readonly path: string;
  /** `listener` */
  readonly name: string;
  /** `listener_`: the name of octavia's own parameter shows in its messages */
  readonly argument: string;
  readonly createShape: Shape;
  readonly updateShape: Shape;
  /** comes before anything else, even the body */
  guard?(context: RequestContext, operation: Operation): void;
  find(context: RequestContext): Readonly<R>;
  /** whose it is; absent for what the operators offer to all */
  projectOf?(row: Readonly<R>): string;
  view(row: Readonly<R>, operation: Operation): Record<string, unknown>;
  list(context: RequestContext): Answer;
  create(values: Values, context: RequestContext): Readonly<R>;
  update(row: Readonly<R>, values: Values, context: RequestContext): Readonly<R>;
  delete(row: Readonly<R>, context: RequestContext): void;
}

/** The routes of a resource: its body is read before the object is looked for, and access depends on whose it is. */
export function octaviaRoutes<R extends Row>(base: string, resource: OctaviaResource<R>): Route[] {
  const { name, argument, createShape, updateShape } = resource;
  const owned = (context: RequestContext, check: typeof checkWrite): Readonly<R> => {
    const row = resource.find(context);
    if (resource.projectOf) check(context.caller, resource.projectOf(row));
    return row;
  };
  return resourceRoutes<R>({
    path: `${base}/${resource.path}`,
    name,
    find(context, operation) {
      resource.guard?.(context, operation);
      return owned(context, operation === 'show' ? checkRead : checkWrite);
    },
    view(row, context, operation) {
      const view = resource.view(row, operation);
      return operation === 'show' ? pick(view, context) : view;
    },
    list(context) {
      resource.guard?.(context, 'list');
      return resource.list(context);
    },
    create(context) {
      resource.guard?.(context, 'create');
      return resource.create(readBody(context, { argument, wrapper: name, shape: createShape }), context);
    },
    update(context) {
      resource.guard?.(context, 'update');
      const values = readBody(context, { argument, wrapper: name, shape: updateShape });
      return resource.update(owned(context, checkWrite), values, context);
    },
    delete: (row, context) => resource.delete(row, context),
  });
}
