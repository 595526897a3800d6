import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import type { RequestContext } from '../../core/http/context.ts';
import { badBody } from '../refusals.ts';
import type { Attributes, Values } from './attribute.ts';
import { isDictionary } from './checks.ts';

export interface BodyShape {
  /** for example `security_group` */
  readonly name: string;
  /** for example `security_groups` */
  readonly collection: string;
  readonly attributes: Attributes;
}

export interface CreateBody {
  readonly items: readonly Values[];
  readonly isBulk: boolean;
}

/** Reads the body of a POST: one object, or several for bulk creation. */
export function readCreateBody(context: RequestContext, shape: BodyShape): CreateBody {
  const body = readObject(context);
  const many = body[shape.collection];
  if (shape.collection in body) {
    if (!Array.isArray(many) || many.length === 0) throw badBody('Resources required');
    const items = many.map((item) => {
      if (!isDictionary(item)) throw badBody(`Object '${shape.name}' contains invalid data`);
      const inner = shape.name in item ? item[shape.name] : item;
      return createValues(inner, shape, context.caller);
    });
    return { items, isBulk: true };
  }
  return { items: [createValues(single(body, shape.name), shape, context.caller)], isBulk: false };
}

/** Reads the body of a PUT, with only the changes. */
export function readUpdateBody(context: RequestContext, shape: BodyShape): Values {
  const body = readObject(context);
  if (shape.collection in body) throw badBody('Bulk operation not supported');
  const values = ownedValues(single(body, shape.name), context.caller);
  refuseUnknown(values, shape.attributes);
  for (const name in shape.attributes) {
    if (name in values && !must(shape.attributes[name], 'shape.attributes[name]').update)
      throw badBody(`Cannot update read-only attribute ${name}`);
  }
  convertValues(values, shape.attributes);
  return values;
}

/** Reads the required object of the body. */
export function readObject(context: RequestContext): Record<string, unknown> {
  const body = context.json;
  if (body === undefined) throw badBody('Resource body required');
  if (!isDictionary(body)) throw badBody('Body contains invalid data');
  return body;
}

function single(body: Record<string, unknown>, name: string): unknown {
  if (body[name] === undefined || body[name] === null) throw badBody(`Unable to find '${name}' in request body`);
  return body[name];
}

function createValues(given: unknown, shape: BodyShape, caller: Caller): Values {
  if (!isDictionary(given)) throw badBody(`Object '${shape.name}' contains invalid data`);
  const values = ownedValues(given, caller);
  values['tenant_id'] ??= caller.projectId;
  refuseUnknown(values, shape.attributes);
  for (const name in shape.attributes) {
    const attribute = must(shape.attributes[name], 'shape.attributes[name]');
    if (!attribute.create) {
      if (name in values) throw badBody(`Attribute '${name}' not allowed in POST`);
    } else if (!(name in values)) {
      if (attribute.required) throw badBody(`Failed to parse request. Required attribute '${name}' not specified`);
      if (attribute.default !== undefined) values[name] = attribute.default;
    }
  }
  convertValues(values, shape.attributes);
  return values;
}

/** `project_id` and `tenant_id` are synonyms. Only administrators may name another project than the token's. */
function ownedValues(given: unknown, caller: Caller): Values {
  if (!isDictionary(given)) throw badBody('Body contains invalid data');
  const { project_id: project, tenant_id: tenant, ...values } = given;
  if (project !== undefined && tenant !== undefined && project !== tenant) {
    throw badBody("'project_id' and 'tenant_id' do not match");
  }
  const owner = project ?? tenant;
  if (owner === undefined) return values;
  if (owner !== caller.projectId && !caller.isAdmin) {
    throw badBody(
      "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin or advsvc privileges",
    );
  }
  return { ...values, tenant_id: owner };
}

function refuseUnknown(values: Values, attributes: Attributes): void {
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(attributes, name));
  if (unknown.length > 0) throw badBody(`Unrecognized attribute(s) '${unknown.join(', ')}'`);
}

function convertValues(values: Values, attributes: Attributes): void {
  for (const name in attributes) {
    if (!(name in values)) continue;
    const { convert, check, default: standIn } = must(attributes[name], 'attributes[name]');
    // Defaults are already converted.
    if (values[name] === standIn && standIn !== null) continue;
    if (convert) values[name] = convert(values[name]);
    const reason = check?.(values[name]);
    if (reason !== undefined) throw badBody(`Invalid input for ${name}. Reason: ${reason}.`);
  }
}
