import { policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Resource, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { textRoutes } from '../core/texts.ts';
import { badRequest, checkBody, conflict, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import { renderType } from './views.ts';
import type { Volumes, VolumeType } from './volumes.ts';

interface TypeFields {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly is_public?: boolean | null;
  readonly extra_specs?: Readonly<Record<string, string>>;
  readonly 'os-volume-type-access:is_public'?: boolean;
}

const properties = {
  name: { type: ['string', 'null'], minLength: 1, maxLength: 255 },
  description: { type: ['string', 'null'], maxLength: 255 },
};

const createSchema = wrappedIn('volume_type', {
  type: 'object',
  properties: {
    ...properties,
    extra_specs: { type: 'object', additionalProperties: { type: 'string' } },
    'os-volume-type-access:is_public': { type: 'boolean' },
  },
  required: ['name'],
});

const updateSchema = wrappedIn('volume_type', {
  type: 'object',
  properties: { ...properties, is_public: { type: ['boolean', 'null'] } },
});

/** Reports whether a project may use a type. */
export function isTypeOpenTo(type: Readonly<VolumeType>, projectId: string | undefined, isAdmin: boolean): boolean {
  return isAdmin || type.isPublic || (projectId !== undefined && (type.projects ?? []).includes(projectId));
}

/** Routes of volume types. */
export function typeRoutes(volumes: Volumes): Route[] {
  const { types } = volumes;
  const policy = policiesOf('volume_extension');
  const find = (context: RequestContext): Readonly<VolumeType> => {
    const id = context.param('id');
    const type = id === 'default' ? volumes.defaultType() : types.get(id);
    const { projectId, isAdmin } = context.caller;
    if (!type || !isTypeOpenTo(type, projectId, isAdmin)) throw notFound(`Volume type ${id} could not be found.`);
    return type;
  };
  const mustBeFree = (name: string, own?: string): void => {
    const other = types.first('name', name);
    if (other && other.id !== own) throw conflict(`Volume Type ${name} already exists.`);
  };
  const resource: Resource<VolumeType> = {
    path: '/types',
    name: 'volume_type',
    statuses: { create: 200, delete: 202 },
    policy: (operation) => (operation === 'list' || operation === 'show' ? undefined : policy(`type_${operation}`)),
    find,
    view(type, context, operation) {
      if (operation === 'create') return renderType(type, 'made');
      if (operation === 'update') return renderType(type, 'changed');
      return renderType(type, context.param('id') === 'default' ? 'default' : 'shown');
    },
    list({ query, caller }) {
      const name = query.get('name');
      const visibility = caller.isAdmin ? query.get('is_public')?.toLowerCase() : undefined;
      const found = [...types.all()].filter(
        (type) =>
          isTypeOpenTo(type, caller.projectId, caller.isAdmin) &&
          (name === undefined || type.name === name) &&
          (visibility === undefined || visibility === 'none' || String(type.isPublic) === visibility),
      );
      return { status: 200, body: { volume_types: found.map((type) => renderType(type, 'shown')) } };
    },
    create(context) {
      checkBody(createSchema, context.json);
      const fields = (context.json as { volume_type: TypeFields }).volume_type;
      const name = fields.name ?? '';
      if (name.trim() === '') throw badRequest('Volume type name can not be empty.');
      mustBeFree(name);
      return types.insert({
        id: volumes.core.ids.uuid(),
        name,
        description: fields.description ?? null,
        isPublic: fields['os-volume-type-access:is_public'] ?? true,
        extraSpecs: fields.extra_specs ?? {},
        projects: [],
      });
    },
    update(context) {
      checkBody(updateSchema, context.json);
      const { name, description, is_public: isPublic } = (context.json as { volume_type: TypeFields }).volume_type;
      const type = find(context);
      if (name === undefined && description === undefined && isPublic === undefined) {
        throw badRequest('Specify volume type name, description, is_public or a combination thereof.');
      }
      if (typeof name === 'string') {
        if (name.trim() === '') throw badRequest('Volume type name can not be empty.');
        mustBeFree(name, type.id);
      }
      return types.update(type.id, {
        ...(typeof name === 'string' && { name }),
        ...(typeof description === 'string' && { description }),
        ...(typeof isPublic === 'boolean' && { isPublic }),
      });
    },
    delete({ id, name }) {
      if (id === volumes.defaultType().id) {
        throw badRequest('Invalid volume type: Default volume type can not be deleted.');
      }
      for (const { typeId } of volumes.volumes.all()) {
        if (typeId === id) throw badRequest(`Target volume type is still in use: ${name}`);
      }
      types.delete(id);
    },
  };
  return [
    ...resourceRoutes(resource),
    ...textRoutes({
      path: '/types/{id}/extra_specs',
      key: 'extra_specs',
      policy: (operation, level) =>
        level === 'reader' ? policy('types_extra_specs:index', level) : policy(`types_extra_specs:${operation}`),
      isReplaceable: false,
      deleted: 202,
      read: (context) => find(context).extraSpecs,
      write: (context, extraSpecs) => {
        const names = Object.keys(extraSpecs);
        if (names.some((name) => !/^[a-zA-Z0-9._:-]+$/.test(name))) {
          throw badRequest(
            'Key names can only contain alphanumeric characters, underscores, periods, colons and hyphens.',
          );
        }
        types.update(find(context).id, { extraSpecs });
      },
      unknown: (context, key) => `Volume Type ${context.param('id')} has no extra specs with key ${key}.`,
    }),
    ...accessRoutes(volumes, find),
    ...encryptionRoutes(volumes, find),
  ];
}

type FindType = (context: RequestContext) => Readonly<VolumeType>;

/** Routes of the projects that may use a private type. */
function accessRoutes({ types }: Volumes, find: FindType): Route[] {
  const policy = policiesOf('volume_extension:volume_type_access');
  const changes: Readonly<Record<string, (type: Readonly<VolumeType>, project: string) => readonly string[]>> = {
    addProjectAccess: ({ id, projects = [] }, project) => {
      if (projects.includes(project)) {
        throw conflict(`Volume type access for ${id} / ${project} combination already exists.`);
      }
      return [...projects, project];
    },
    removeProjectAccess: ({ id, projects = [] }, project) => {
      if (!projects.includes(project)) {
        throw notFound(`Volume type access not found for ${id} / ${project} combination.`);
      }
      return projects.filter((each) => each !== project);
    },
  };
  return [
    {
      method: 'GET',
      path: '/types/{id}/os-volume-type-access',
      policy: policy('get_all_for_type'),
      handle: (context) => {
        const { id, isPublic, projects = [] } = find(context);
        if (isPublic) throw notFound('Access list not available for public volume types.');
        const list = projects.map((project_id) => ({ volume_type_id: id, project_id }));
        return { status: 200, body: { volume_type_access: list } };
      },
    },
    {
      method: 'POST',
      path: '/types/{id}/action',
      policy: policy('addProjectAccess'),
      handle: (context): Answer => {
        const body = (context.json ?? {}) as Readonly<Record<string, { project?: unknown } | undefined>>;
        const name = Object.keys(body)[0] ?? '';
        const change = Object.hasOwn(changes, name) ? changes[name] : undefined;
        if (!change) throw badRequest(`There is no such action: ${name}.`);
        const project = body[name]?.project;
        if (typeof project !== 'string' || project === '') throw badRequest("'project' is a required property");
        const type = find(context);
        if (type.isPublic) throw conflict('Type access modification is not applicable to public volume type.');
        types.update(type.id, { projects: change(type, project) });
        return { status: 202 };
      },
    },
  ];
}

const encryptionSchema = wrappedIn('encryption', {
  type: 'object',
  properties: {
    key_size: { type: ['string', 'integer', 'null'] },
    provider: { type: 'string', maxLength: 255 },
    control_location: { type: 'string', enum: ['front-end', 'back-end'] },
    cipher: { type: ['string', 'null'], maxLength: 255 },
  },
});

/** Routes of the encryption of a type. */
function encryptionRoutes({ types, volumes, core }: Volumes, find: FindType): Route[] {
  const policy = policiesOf('volume_extension:volume_type_encryption');
  const base = '/types/{id}/encryption';
  const read = (context: RequestContext): NonNullable<VolumeType['encryption']> => {
    checkBody(encryptionSchema, context.json);
    const fields = (context.json as { encryption: Readonly<Record<string, string | number | null>> }).encryption;
    const keySize = fields['key_size'];
    return { ...fields, ...(typeof keySize === 'string' && { key_size: Number(keySize) }) };
  };
  const mustBeUnused = (type: Readonly<VolumeType>): void => {
    for (const { typeId } of volumes.all()) {
      if (typeId === type.id) {
        throw badRequest('Cannot change encryption specs. Volume type in use.');
      }
    }
  };
  const mustHave = (type: Readonly<VolumeType>): NonNullable<VolumeType['encryption']> => {
    if (!type.encryption) throw notFound(`Volume type encryption for type ${type.id} does not exist.`);
    return type.encryption;
  };
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('get'),
      handle: (context) => {
        const type = find(context);
        return { status: 200, body: type.encryption ? { volume_type_id: type.id, ...type.encryption } : {} };
      },
    },
    {
      method: 'GET',
      path: `${base}/{key}`,
      policy: policy('get'),
      handle: (context) => {
        const key = context.param('key');
        const encryption = find(context).encryption ?? {};
        if (!Object.hasOwn(encryption, key)) throw notFound(`The resource could not be found.`);
        return { status: 200, body: { [key]: encryption[key] } };
      },
    },
    {
      method: 'POST',
      path: base,
      policy: policy('create'),
      handle: (context) => {
        const given = read(context);
        const type = find(context);
        if (type.encryption) throw badRequest(`Volume type encryption for type ${type.id} already exists.`);
        if (!given['provider']) throw badRequest("'provider' is a required property");
        mustBeUnused(type);
        const encryption = {
          control_location: 'front-end',
          ...given,
          encryption_id: core.ids.uuid(),
        };
        types.update(type.id, { encryption });
        return { status: 200, body: { encryption: { volume_type_id: type.id, ...encryption } } };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{key}`,
      policy: policy('update'),
      handle: (context) => {
        const given = read(context);
        const type = find(context);
        const current = mustHave(type);
        mustBeUnused(type);
        types.update(type.id, { encryption: { ...current, ...given } });
        return { status: 200, body: { encryption: given } };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{key}`,
      policy: policy('delete'),
      handle: (context) => {
        const type = find(context);
        mustHave(type);
        mustBeUnused(type);
        types.update(type.id, { encryption: undefined });
        return { status: 202 };
      },
    },
  ];
}

/** Finds a type by name or id, if the caller may use it. */
export function openType(
  volumes: Volumes,
  { caller }: RequestContext,
  nameOrId: string,
): Readonly<VolumeType> | undefined {
  const type = volumes.findType(nameOrId);
  return type && isTypeOpenTo(type, caller.projectId, caller.isAdmin) ? type : undefined;
}
