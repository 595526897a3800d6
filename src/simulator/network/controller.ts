import { must } from '../../machinery/index.ts';
import type { Caller } from '../core/caller.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes as routesOf } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { readCreateBody, readUpdateBody } from './attributes/body.ts';
import { fieldsOf, type ListQuery, pickFields, readListQuery } from './attributes/list-query.ts';
import { pageLinks } from './attributes/page-links.ts';
import { inOrder, matches, pageOf, type ReadAttribute } from './attributes/select.ts';
import type { Neutron } from './neutron.ts';
import { enforceAttributes } from './policy.ts';
import { badBody, badRequest, disallowed, overQuota, refuse } from './refusals.ts';
import type { Resource, StandardRow } from './resource.ts';

/** Builds the list, show, create, update and delete routes of a resource, each also with the suffix `.json`. */
export function resourceRoutes<R extends StandardRow>(neutron: Neutron, resource: Resource<R>): Route[] {
  const path = `/v2.0/${resource.path}`;
  const nameless = (): never => {
    throw resource.notFound('None');
  };
  return [
    { method: 'PUT', path, handle: nameless },
    { method: 'DELETE', path, handle: nameless },
    ...routesOf<R>({
      path,
      name: resource.name,
      collection: resource.collection,
      find: (context, operation) => find(resource, context, operation),
      view: (row, context, operation) => view(resource, row, context, operation),
      list: (context) => list(resource, context),
      ...(resource.create && { create: (context) => create(neutron, resource, context) }),
      ...(resource.update && { update: (context) => update(resource, context) }),
      ...(resource.delete && { delete: (row, context) => remove(resource, row, context) }),
    }),
  ];
}

/** Returns the row of a path, if it is visible to the caller. */
export function visibleRow<R extends StandardRow>(resource: Resource<R>, id: string, caller: Caller): Readonly<R> {
  const row = resource.table.get(id);
  if (!row || !(caller.isAdmin || resource.isVisibleTo(row, caller))) throw resource.notFound(id);
  return row;
}

/** Returns the row of a path, if the caller may perform `action` on it. */
export function ownRow<R extends StandardRow>(
  resource: Resource<R>,
  id: string,
  caller: Caller,
  action: string,
): Readonly<R> {
  const row = visibleRow(resource, id, caller);
  if (!caller.isAdmin && !(resource.isOwnedBy(row, caller) && caller.canWrite)) throw disallowed(`rule:${action}`);
  return row;
}

/** Refuses a write whose `If-Match` revision is outdated. */
export function checkRevision(context: RequestContext, row: StandardRow): void {
  const header = context.headers['if-match'];
  if (header === undefined) return;
  const match = /revision_number=([^"\s,]*)/.exec(header);
  if (!match) return;
  if (!/^\d+$/.test(match[1] ?? '')) {
    throw badRequest('if-match', 'Revision number etag must be in the format of revision_number=<int>');
  }
  if (Number(match[1]) !== row.revision_number) {
    const message = `Constrained to ${match[1]}, but current revision is ${row.revision_number}`;
    throw refuse(412, 'RevisionNumberConstraintFailed', message);
  }
}

function idOf(context: RequestContext): string {
  const id = context.param('id');
  return id.endsWith('.json') ? id.slice(0, -'.json'.length) : id;
}

function list<R extends StandardRow>(resource: Resource<R>, context: RequestContext): Answer {
  const { caller } = context;
  const query = readListQuery(context, resource.attributes);
  resource.beforeList?.(query.filters, caller);
  const read = reader(resource);
  const marker =
    query.marker === undefined || query.marker === '' ? undefined : visibleRow(resource, query.marker, caller);
  const rows = inOrder(visibleRows(resource, query, caller, read), query, read);
  const page = pageOf(rows, query, marker, read);
  const items = page.map((row) => pickFields(resource.view(row, caller), query.fields));
  const links = pageLinks(context, query, page);
  return {
    status: 200,
    body: { [resource.collection]: items, ...(links.length > 0 && { [`${resource.collection}_links`]: links }) },
  };
}

function visibleRows<R extends StandardRow>(
  resource: Resource<R>,
  { filters }: ListQuery,
  caller: Caller,
  read: ReadAttribute<Readonly<R>>,
): Readonly<R>[] {
  const found: Readonly<R>[] = [];
  const matchers = resource.matchers ?? {};
  for (const row of candidatesOf(resource, filters, caller)) {
    if (!caller.isAdmin && !resource.isVisibleTo(row, caller)) continue;
    if (matches(row, filters, read, matchers)) found.push(row);
  }
  return found;
}

function candidatesOf<R extends StandardRow>(
  resource: Resource<R>,
  filters: ListQuery['filters'],
  caller: Caller,
): Iterable<Readonly<R>> {
  const ids = filters.get('id');
  if (ids) return new Set(ids.map((id) => resource.table.get(id as string)).filter((row) => row !== undefined));
  return resource.candidates?.(filters, caller) ?? resource.table.all();
}

function reader<R extends StandardRow>(resource: Resource<R>): ReadAttribute<Readonly<R>> {
  return (row, name) =>
    name in row ? (row as Record<string, unknown>)[name] : (resource.read?.(row, name) ?? undefined);
}

function find<R extends StandardRow>(
  resource: Resource<R>,
  context: RequestContext,
  operation: Operation,
): Readonly<R> {
  if (operation === 'show') return visibleRow(resource, idOf(context), context.caller);
  if (operation === 'delete' && context.rawBody !== undefined && context.rawBody.length > 0) {
    throw badBody('Request body is not supported in DELETE.');
  }
  return ownRow(resource, idOf(context), context.caller, `${operation}_${resource.name}`);
}

function view<R extends StandardRow>(
  resource: Resource<R>,
  row: Readonly<R>,
  context: RequestContext,
  operation: Operation,
): object {
  const whole = resource.view(row, context.caller);
  if (operation === 'show') return pickFields(whole, fieldsOf(context));
  return operation === 'create' ? { ...whole, ...resource.viewCreated?.(row, context.caller) } : whole;
}

function create<R extends StandardRow>(
  neutron: Neutron,
  resource: Resource<R>,
  context: RequestContext,
): Readonly<R> | readonly Readonly<R>[] {
  const { caller } = context;
  const { items, isBulk } = readCreateBody(context, resource);
  const action = `create_${resource.name}`;
  for (const values of items) resource.checkOwner?.(values, caller);
  checkQuota(neutron, resource, items);
  if (!caller.isAdmin && !caller.canWrite) throw disallowed(`rule:${action}`);
  for (const values of items) enforceAttributes(action, resource.attributes, resource.rules, values, caller);
  resource.checkBulk?.(items, caller);
  const made = items.flatMap((values) => resource.create?.(values, caller, isBulk) ?? []);
  return isBulk ? made : must(made[0], resource.name);
}

function checkQuota({ core }: Neutron, { quota }: { quota?: string }, items: readonly Record<string, unknown>[]): void {
  if (quota === undefined) return;
  const desired = new Map<string, number>();
  for (const { tenant_id: project } of items) {
    desired.set(project as string, (desired.get(project as string) ?? 0) + 1);
  }
  for (const [project, count] of desired) {
    const isSaidToBe = outcomeOf(core, `${quota}.quota`, { projectId: project, name: '' })?.kind === 'over-quota';
    if (isSaidToBe || core.quotas.excess('network', project, { [quota]: count })) throw overQuota([quota]);
  }
}

function update<R extends StandardRow>(resource: Resource<R>, context: RequestContext): Readonly<R> {
  const { caller } = context;
  const { attributes, rules } = resource;
  const values = readUpdateBody(context, resource);
  const row = find(resource, context, 'update');
  enforceAttributes(
    `update_${resource.name}`,
    attributes,
    rules,
    { ...resource.policyValues?.(row), ...values },
    caller,
  );
  checkRevision(context, row);
  return must(resource.update?.(row, values, caller), resource.name);
}

function remove<R extends StandardRow>(resource: Resource<R>, row: Readonly<R>, context: RequestContext): void {
  checkRevision(context, row);
  resource.delete?.(row, context.caller);
}
