import { policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { need, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, conflict, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import { type Listing, listPage } from './list.ts';
import type { QosSpecs, Volumes } from './volumes.ts';

const specSchema = { type: ['string', 'integer'], maxLength: 255 };

const createSchema = wrappedIn('qos_specs', {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    consumer: { type: 'string', enum: ['back-end', 'front-end', 'both'] },
  },
  required: ['name'],
  additionalProperties: specSchema,
});

const updateSchema = wrappedIn('qos_specs', {
  type: 'object',
  properties: { consumer: { type: 'string', enum: ['back-end', 'front-end', 'both'] } },
  additionalProperties: specSchema,
});

const listing: Listing<Readonly<QosSpecs>> = {
  key: 'qos_specs',
  noun: 'QoS specs',
  filters: {
    id: ({ id }, value) => id === value,
    name: ({ name }, value) => name === value,
    consumer: ({ consumer }, value) => consumer === value,
  },
  sortable: { id: ({ id }) => id, name: ({ name }) => name, consumer: ({ consumer }) => consumer },
};

function changesIn({ json }: RequestContext): {
  qos_specs: { consumer?: string } & Record<string, string | number>;
} {
  return json as ReturnType<typeof changesIn>;
}

/** Routes of QoS specs, for operators. Cinder changes associations with GET. */
export function qosSpecRoutes(volumes: Volumes): Route[] {
  const { qosSpecs, types, core } = volumes;
  const policy = policiesOf('volume_extension:qos_specs_manage');
  const find = (context: RequestContext): Readonly<QosSpecs> =>
    need(qosSpecs, context.param('id'), (id) => notFound(`No such QoS spec ${id}.`));
  const render = ({ id, name, consumer, specs }: Readonly<QosSpecs>): object => ({ id, name, consumer, specs });
  const answer = (context: RequestContext, specs: Readonly<QosSpecs>): object => ({
    qos_specs: render(specs),
    links: [{ rel: 'self', href: `${context.serviceUrl}/v3/${context.project}/qos-specs/${specs.id}` }],
  });
  const typesOf = (id: string): string[] =>
    [...types.all()].filter(({ qosSpecsId }) => qosSpecsId === id).map((type) => type.id);
  const typeOf = ({ query }: RequestContext): string => {
    const id = query.get('vol_type_id');
    if (id === undefined) throw badRequest('Volume Type id must not be None.');
    if (!types.has(id)) throw notFound(`Volume type ${id} could not be found.`);
    return id;
  };
  const texts = (given: Readonly<Record<string, string | number>>): Record<string, string> =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
  const rules = { list: 'get_all', create: 'create', show: 'get', update: 'update', delete: 'delete' } as const;
  return [
    ...resourceRoutes<QosSpecs>({
      path: '/qos-specs',
      statuses: { create: 200, delete: 202 },
      policy: (operation) => policy(rules[operation]),
      find,
      // The answer to an update repeats its body.
      view: (specs, context, operation) => (operation === 'update' ? changesIn(context) : answer(context, specs)),
      list: (context) => ({ status: 200, body: listPage(context, qosSpecs.all(), listing, render) }),
      create(context) {
        checkBody(createSchema, context.json);
        const { name, consumer, ...specs } = (
          context.json as { qos_specs: { name: string; consumer?: string } & Record<string, string | number> }
        ).qos_specs;
        if (qosSpecs.first('name', name)) throw conflict(`QoS Specs ${name} already exists.`);
        return qosSpecs.insert({ id: core.ids.uuid(), name, consumer: consumer ?? 'back-end', specs: texts(specs) });
      },
      update(context) {
        checkBody(updateSchema, context.json);
        const { consumer, ...specs } = changesIn(context).qos_specs;
        const current = find(context);
        return qosSpecs.update(current.id, {
          specs: { ...current.specs, ...texts(specs) },
          ...(consumer !== undefined && { consumer }),
        });
      },
      delete({ id }, { query }) {
        const users = typesOf(id);
        if (users.length > 0 && query.get('force')?.toLowerCase() !== 'true') {
          throw badRequest(`QoS Specs ${id} is still associated with entities.`);
        }
        for (const type of users) types.update(type, { qosSpecsId: undefined });
        qosSpecs.delete(id);
      },
    }),
    {
      method: 'PUT',
      path: '/qos-specs/{id}/delete_keys',
      policy: policy('update'),
      handle: (context) => {
        const { keys } = (context.json ?? {}) as { keys?: unknown };
        if (!Array.isArray(keys)) throw badRequest("Missing required element 'keys' in request body.");
        const current = find(context);
        for (const key of keys) {
          if (!Object.hasOwn(current.specs, String(key))) {
            throw notFound(`QoS spec ${current.id} has no spec with key ${String(key)}.`);
          }
        }
        const specs = Object.fromEntries(Object.entries(current.specs).filter(([key]) => !keys.includes(key)));
        qosSpecs.update(current.id, { specs });
        return { status: 202 };
      },
    },
    {
      method: 'GET',
      path: '/qos-specs/{id}/associations',
      policy: policy('get'),
      handle: (context) => {
        const qos_associations = typesOf(find(context).id).map((id) => ({
          association_type: 'volume_type',
          name: types.known(id).name,
          id,
        }));
        return { status: 200, body: { qos_associations } };
      },
    },
    {
      method: 'GET',
      path: '/qos-specs/{id}/associate',
      policy: policy('update'),
      handle: (context) => {
        const { id } = find(context);
        const type = typeOf(context);
        const current = types.known(type).qosSpecsId;
        if (current !== undefined && current !== id) {
          throw badRequest(`Type ${type} is already associated with another qos specs: ${current}`);
        }
        core.state.transact(() => types.update(type, { qosSpecsId: id }));
        return { status: 202 };
      },
    },
    {
      method: 'GET',
      path: '/qos-specs/{id}/disassociate',
      policy: policy('update'),
      handle: (context) => {
        find(context);
        const type = typeOf(context);
        core.state.transact(() => types.update(type, { qosSpecsId: undefined }));
        return { status: 202 };
      },
    },
    {
      method: 'GET',
      path: '/qos-specs/{id}/disassociate_all',
      policy: policy('update'),
      handle: (context) => {
        const used = typesOf(find(context).id);
        core.state.transact(() => {
          for (const type of used) types.update(type, { qosSpecsId: undefined });
        });
        return { status: 202 };
      },
    },
  ];
}
