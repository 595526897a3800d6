import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import type { Row } from '../core/state/table.ts';
import { checkRead, checkWrite } from './access.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { pick } from './listing.ts';

/** A resource type of octavia: its names, and how it is read, written and rendered. */
export interface OctaviaResource<R extends Row> {
  /** path below the version, for example `listeners` or `pools/{pool}/members` */
  readonly path: string;
  /** for example `listener` */
  readonly name: string;
  /** for example `listener_`: octavia's messages show the name of its own parameter */
  readonly argument: string;
  readonly createShape: Shape;
  readonly updateShape: Shape;
  /** runs before everything else, even before the body is read */
  guard?(context: RequestContext, operation: Operation): void;
  find(context: RequestContext): Readonly<R>;
  /** project of the row; absent for resources that operators offer to all projects */
  projectOf?(row: Readonly<R>): string;
  view(row: Readonly<R>, operation: Operation): Record<string, unknown>;
  list(context: RequestContext): Answer;
  create(values: Values, context: RequestContext): Readonly<R>;
  update(row: Readonly<R>, values: Values, context: RequestContext): Readonly<R>;
  delete(row: Readonly<R>, context: RequestContext): void;
}

/**
 * Builds the routes of a resource. Octavia reads the body before it looks for the object, and access depends on the
 * project of the object.
 */
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
