import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import type { Row, Table } from '../core/state/table.ts';
import { checkRead, checkWrite } from './access.ts';
import { type Attributes, changedColumns, filtersOf, updateShape } from './attributes.ts';
import type { Shape, Values } from './body/shape.ts';
import { listAnswer } from './listing.ts';
import type { Locked, Octavia } from './octavia.ts';
import { checkQuota, type Limited } from './quotas.ts';
import { asPage, notFound, type ThingName } from './refusals.ts';
import { type OctaviaResource, octaviaRoutes } from './resource.ts';
import type { PartRow } from './rows.ts';
import type { PartTable } from './tables.ts';

interface Owned {
  readonly project_id: string;
}

/**
 * A child type of load balancers. Every change locks the load balancer, sets the child and its parents to a pending
 * status, and completes later.
 */
export interface Part<R extends PartRow, P extends Owned> {
  readonly path: string;
  readonly name: string;
  readonly collection: string;
  readonly argument: string;
  readonly thing: ThingName;
  readonly quota: Limited;
  readonly part: PartTable;
  readonly table: Table<R>;
  readonly attributes: Attributes;
  /** where it differs from the shape derived from the attributes */
  readonly updateShape?: Shape;
  /** set if the path contains the parent; objects of another parent are not found */
  readonly inside?: Inside<R, Owned & Row>;
  /** query parameter of lists and its index */
  readonly listedBy?: readonly [argument: string, index: string];
  view(row: Readonly<R>): Record<string, unknown>;
  /** parent of a new object */
  parentOf(values: Values, context: RequestContext): P;
  /** runs before the quota check */
  checkNew?(values: Values, parent: P): void;
  /** Locks the load balancer for a new child of the parent. */
  lockNew(parent: P, values: Values): Locked;
  insert(parent: P, values: Values): Readonly<R>;
  checkUpdate?(row: Readonly<R>, values: Values): void;
  checkDelete?(row: Readonly<R>): void;
  /** Locks the load balancer for a change of the child. Its parents become pending too. */
  lock(row: Readonly<R>): Locked;
  /** for updates that change more than the columns in the body */
  update?(row: Readonly<R>, values: Values): Readonly<R>;
}

export interface Inside<R, P> {
  readonly parameter: string;
  readonly parents: Pick<Table<P & Row>, 'get'>;
  readonly thing: ThingName;
  /** index of the children by parent */
  readonly index: string;
  parentId(row: Readonly<R>): string;
}

export function partRoutes<R extends PartRow, P extends Owned>(
  octavia: Octavia,
  base: string,
  part: Part<R, P>,
): Route[] {
  return octaviaRoutes(base, partResource(octavia, part));
}

/** Finds the parent named in the path. */
export function parentIn<R, P>(
  { parameter, parents, thing }: Inside<R, P>,
  context: RequestContext,
): Readonly<P & Row> {
  const id = context.param(parameter);
  const parent = parents.get(id);
  if (!parent) throw asPage(404, `${thing} ${id} not found.`);
  return parent;
}

function partResource<R extends PartRow, P extends Owned>(octavia: Octavia, part: Part<R, P>): OctaviaResource<R> {
  const { table, attributes, inside, listedBy } = part;
  const listed = { collection: part.collection, table, filters: filtersOf(attributes), view: part.view };
  const candidates = (context: RequestContext): Iterable<Readonly<R>> | undefined => {
    if (inside) {
      const parent = parentIn(inside, context);
      checkRead(context.caller, parent.project_id);
      return table.by(inside.index, parent.id);
    }
    const key = listedBy && context.query.get(listedBy[0]);
    return key === undefined ? undefined : table.by(must(listedBy, 'listedBy')[1], key);
  };
  return {
    path: part.path,
    name: part.name,
    argument: part.argument,
    createShape: attributes,
    updateShape: part.updateShape ?? updateShape(attributes),
    guard(context, operation) {
      if (inside && operation === 'create') parentIn(inside, context);
    },
    find(context) {
      const parent = inside && parentIn(inside, context);
      const id = context.param('id');
      const row = table.get(id);
      if (!row || (parent && inside.parentId(row) !== parent.id)) throw notFound(part.thing, id);
      return row;
    },
    projectOf: (row) => row.project_id,
    view: part.view,
    list: (context) => listAnswer(context, listed, candidates(context)),
    create(values, context) {
      const parent = part.parentOf(values, context);
      checkWrite(context.caller, parent.project_id);
      part.checkNew?.(values, parent);
      checkQuota(octavia, parent.project_id, part.quota);
      const { lb, touched } = part.lockNew(parent, values);
      const made = part.insert(parent, values);
      octavia.begin(lb, 'update', [...touched, { table: part.part, id: made.id }]);
      return made;
    },
    update(row, values) {
      part.checkUpdate?.(row, values);
      const { lb, touched } = part.lock(row);
      const own = { table: part.part, id: row.id };
      octavia.mark(own, 'PENDING_UPDATE');
      const changed = part.update?.(row, values) ?? table.update(row.id, changedColumns<R>(attributes, values));
      octavia.begin(lb, 'update', [...touched, own]);
      return changed;
    },
    delete(row) {
      part.checkDelete?.(row);
      const { lb, touched } = part.lock(row);
      const own = { table: part.part, id: row.id };
      octavia.mark(own, 'PENDING_DELETE');
      octavia.begin(lb, 'update', [...touched, own]);
    },
  };
}
