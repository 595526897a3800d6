import { policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { need, type Operation, type Resource, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { badRequest, checkBody, conflict, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { Aggregate } from './tables.ts';

const name = { type: 'string', minLength: 1, maxLength: 255 };
const zone = { type: ['string', 'null'], minLength: 1, maxLength: 255 };
const host = (action: string): ReturnType<typeof wrappedIn> =>
  wrappedIn(action, { type: 'object', properties: { host: name }, required: ['host'], additionalProperties: false });

const createSchema = wrappedIn('aggregate', {
  type: 'object',
  properties: { name, availability_zone: zone },
  required: ['name'],
  additionalProperties: false,
});
const updateSchema = wrappedIn('aggregate', {
  type: 'object',
  properties: { name, availability_zone: zone },
  minProperties: 1,
  additionalProperties: false,
});
const metadataSchema = wrappedIn('set_metadata', {
  type: 'object',
  properties: {
    metadata: { type: 'object', additionalProperties: { type: ['string', 'null'], maxLength: 255 } },
  },
  required: ['metadata'],
  additionalProperties: false,
});

/** Zone of hosts that no aggregate assigns to another zone. */
const defaultZone = 'nova';

/** Routes of host aggregates. An aggregate with a zone puts its hosts into that zone. */
export function aggregateRoutes(compute: Compute): Route[] {
  const { aggregates, hosts, core } = compute;
  const policy = policiesOf('os_compute_api:os-aggregates');
  const find = (context: RequestContext): Readonly<Aggregate> =>
    need(aggregates, context.param('id'), (id) => notFound(`Aggregate ${id} could not be found.`));
  const render = (context: RequestContext, row: Readonly<Aggregate>): Record<string, unknown> => ({
    id: Number(row.id),
    name: row.name,
    availability_zone: row.zone,
    hosts: row.hosts,
    metadata: { ...row.metadata, ...(row.zone !== null && { availability_zone: row.zone }) },
    created_at: wholeSeconds(row.createdAt),
    updated_at: row.updatedAt === undefined ? null : wholeSeconds(row.updatedAt),
    deleted: false,
    deleted_at: null,
    ...(context.minor >= 41 && { uuid: row.uuid }),
  });
  const change = (row: Readonly<Aggregate>, changes: Partial<Omit<Aggregate, 'id'>>): Readonly<Aggregate> =>
    aggregates.update(row.id, { ...changes, updatedAt: core.now() });
  const mustBeFree = (wanted: string, own?: string): void => {
    for (const other of aggregates.all()) {
      if (other.name === wanted && other.id !== own) throw conflict(`Aggregate ${wanted} already exists.`);
    }
  };
  /** Refuses to change the zone of hosts that have servers, because the servers would have to move too. */
  const moveHosts = (list: readonly string[], to: string | null): void => {
    for (const id of list) {
      const target = to ?? defaultZone;
      if (hosts.get(id)?.zone === target) continue;
      if (compute.servers.count('host', id) > 0) {
        throw conflict(
          `One or more hosts contain instances in this zone: hosts with instances cannot change their availability zone.`,
        );
      }
      hosts.update(id, { zone: target });
    }
  };
  const actions: Readonly<Record<string, (context: RequestContext, row: Readonly<Aggregate>) => Readonly<Aggregate>>> =
    {
      add_host(context, row) {
        checkBody(host('add_host'), context.json);
        const id = (context.json as { add_host: { host: string } }).add_host.host;
        if (!hosts.has(id)) throw notFound(`Compute host ${id} could not be found.`);
        if (row.hosts.includes(id)) throw conflict(`Aggregate ${row.id} already has host ${id}.`);
        if (row.zone !== null) {
          for (const other of aggregates.all()) {
            if (other.zone === null || other.zone === row.zone || !other.hosts.includes(id)) continue;
            throw conflict(
              `Cannot add host to aggregate ${row.id}. Reason: One or more hosts already in availability zone(s) ['${other.zone}'].`,
            );
          }
          moveHosts([id], row.zone);
        }
        return change(row, { hosts: [...row.hosts, id] });
      },
      remove_host(context, row) {
        checkBody(host('remove_host'), context.json);
        const id = (context.json as { remove_host: { host: string } }).remove_host.host;
        if (!row.hosts.includes(id)) throw notFound(`Aggregate ${row.id} has no host ${id}.`);
        if (row.zone !== null) moveHosts([id], null);
        return change(row, { hosts: row.hosts.filter((each) => each !== id) });
      },
      set_metadata(context, row) {
        checkBody(metadataSchema, context.json);
        const given = (context.json as { set_metadata: { metadata: Record<string, string | null> } }).set_metadata
          .metadata;
        const { availability_zone: wanted, ...rest } = { ...row.metadata, ...given };
        const metadata = Object.fromEntries(
          Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== null),
        );
        if (wanted === undefined) return change(row, { metadata });
        moveHosts(row.hosts, wanted);
        return change(row, { metadata, zone: wanted });
      },
    };
  const base = '/v2.1/os-aggregates';
  const rules: Readonly<Record<Operation, string>> = {
    list: 'index',
    create: 'create',
    show: 'show',
    update: 'update',
    delete: 'delete',
  };
  const resource: Resource<Aggregate> = {
    path: base,
    name: 'aggregate',
    statuses: { create: 200, delete: 200 },
    policy: (operation) => policy(rules[operation]),
    find,
    view(row, context, operation) {
      if (operation !== 'create') return render(context, row);
      // The answer to a POST has neither field, because nova does not read them back from the database.
      const { hosts: _hosts, metadata: _metadata, ...shown } = render(context, row);
      return shown;
    },
    list: (context) => ({
      status: 200,
      body: { aggregates: Array.from(aggregates.all(), (row) => render(context, row)) },
    }),
    create(context) {
      checkBody(createSchema, context.json);
      const fields = (context.json as { aggregate: { name: string; availability_zone?: string | null } }).aggregate;
      mustBeFree(fields.name);
      return insertAggregate(compute, fields.name, fields.availability_zone ?? null, []);
    },
    update(context) {
      checkBody(updateSchema, context.json);
      const fields = (context.json as { aggregate: { name?: string; availability_zone?: string | null } }).aggregate;
      const row = find(context);
      if (fields.name !== undefined) mustBeFree(fields.name, row.id);
      if (fields.availability_zone !== undefined) moveHosts(row.hosts, fields.availability_zone);
      return change(row, {
        ...(fields.name !== undefined && { name: fields.name }),
        ...(fields.availability_zone !== undefined && { zone: fields.availability_zone }),
      });
    },
    delete(row) {
      if (row.hosts.length > 0) {
        throw badRequest(`Cannot remove aggregate ${row.id}. Reason: Host aggregate is not empty.`);
      }
      aggregates.delete(row.id);
    },
  };
  return [
    ...resourceRoutes(resource),
    {
      method: 'POST',
      path: `${base}/{id}/action`,
      policy: policy('add_host'),
      handle: (context) => {
        const [action = ''] = Object.keys((context.json ?? {}) as object);
        const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
        if (!run) throw badRequest(`There is no such action: ${action}`);
        return { status: 200, body: { aggregate: render(context, run(context, find(context))) } };
      },
    },
  ];
}

/** Numbers continue from the highest existing one. */
export function insertAggregate(
  { aggregates, core }: Compute,
  aggregateName: string,
  aggregateZone: string | null,
  hosts: readonly string[],
): Readonly<Aggregate> {
  let highest = 0;
  for (const { id } of aggregates.all()) highest = Math.max(highest, Number(id));
  return aggregates.insert({
    id: String(highest + 1),
    uuid: core.ids.uuid(),
    name: aggregateName,
    zone: aggregateZone,
    hosts,
    metadata: {},
    createdAt: core.now(),
    updatedAt: undefined,
  });
}

/** Adds a host with a zone of its own to the aggregate that defines the zone. */
export function placeHost(compute: Compute, id: string, hostZone: string): void {
  if (hostZone === defaultZone) return;
  for (const row of compute.aggregates.all()) {
    if (row.zone !== hostZone) continue;
    compute.aggregates.update(row.id, { hosts: [...row.hosts, id] });
    return;
  }
  insertAggregate(compute, hostZone, hostZone, [id]);
}
