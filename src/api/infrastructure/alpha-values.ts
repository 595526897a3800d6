import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import type { Mapping } from '../kind/mapping.ts';

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuidPattern.test(text);
export const isText = (value: JsonValue | undefined): value is string => typeof value === 'string' && value !== '';

/** `a,b` <-> [a, b] */
function splitTags(value: JsonValue | undefined): string[] | undefined {
  if (!isText(value)) return undefined;
  const tags = value.split(',').filter((tag) => tag !== '');
  return tags.length > 0 ? tags : undefined;
}

const tagFields = ['tags', 'tagsAny', 'notTags', 'notTagsAny'] as const;
const sameFields = ['name', 'description', 'cidr', 'ipv6AddressMode'] as const;
const renamedFields = [
  ['gateway_ip', 'gatewayIP'],
  ['ipv6RaMode', 'ipv6RAMode'],
] as const;

/**
 * Flat filter of the alpha versions <-> {id} or {filter}. With an id all other fields are ignored, so only the id is
 * kept. An empty filter means that nothing is selected.
 */
export const flatFilter: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    if (isText(value['id'])) return { id: value['id'] };
    const filter = filterUp(value);
    return filter === undefined ? undefined : { filter };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    if (value['id'] !== undefined) return { id: value['id'] };
    return isJsonObject(value['filter']) ? filterDown(value['filter']) : undefined;
  },
};

/** {uuid, filter} and, for security groups, {name} <-> {id} or {filter} */
export const uuidOrFilter: Mapping = {
  up(value, context) {
    if (!isJsonObject(value)) return undefined;
    if (isText(value['uuid'])) return { id: value['uuid'] };
    if (isText(value['name'])) return { filter: { name: value['name'] } };
    return isJsonObject(value['filter']) ? flatFilter.up(value['filter'], context) : undefined;
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    if (value['id'] !== undefined) return { uuid: value['id'] };
    return isJsonObject(value['filter']) ? { filter: filterDown(value['filter']) } : undefined;
  },
};

/** A security group with only a name has the name beside the filter. */
export const securityGroupParam: Mapping = {
  up: uuidOrFilter.up,
  down(value, context) {
    const filter = isJsonObject(value) && isJsonObject(value['filter']) ? value['filter'] : undefined;
    if (filter !== undefined && isText(filter['name']) && Object.keys(filter).length === 1) {
      return { name: filter['name'] };
    }
    return uuidOrFilter.down(value, context);
  },
};

function filterUp(value: JsonObject): JsonObject | undefined {
  const filter: JsonObject = {};
  for (const name of sameFields) if (isText(value[name])) filter[name] = value[name];
  for (const [old, hub] of renamedFields) if (isText(value[old])) filter[hub] = value[old];
  const project = isText(value['projectId']) ? value['projectId'] : value['tenantId'];
  if (isText(project)) filter['projectID'] = project;
  if (typeof value['ipVersion'] === 'number' && value['ipVersion'] !== 0) filter['ipVersion'] = value['ipVersion'];
  for (const name of tagFields) {
    const tags = splitTags(value[name]);
    if (tags !== undefined) filter[name] = tags;
  }
  return Object.keys(filter).length > 0 ? filter : undefined;
}

function filterDown(filter: JsonObject): JsonObject {
  const value: JsonObject = {};
  for (const name of sameFields) if (filter[name] !== undefined) value[name] = filter[name];
  for (const [old, hub] of renamedFields) if (filter[hub] !== undefined) value[old] = filter[hub];
  if (filter['projectID'] !== undefined) value['projectId'] = filter['projectID'];
  if (filter['ipVersion'] !== undefined) value['ipVersion'] = filter['ipVersion'];
  for (const name of tagFields) if (Array.isArray(filter[name])) value[name] = filter[name].join(',');
  return value;
}

/** a string whose empty value means absent */
export const textOrAbsent: Mapping = {
  up: (value) => (isText(value) ? value : undefined),
  down: (value) => value,
};

/** a number whose zero value means absent */
export const numberOrAbsent: Mapping = {
  up: (value) => (typeof value === 'number' && value !== 0 ? value : undefined),
  down: (value) => value,
};

/** Availability zone of a volume: a name <-> {from, name}. Without a name, the volume uses the zone of the machine. */
export const volumeZone = {
  up: (value: JsonValue | undefined): JsonObject =>
    isText(value) ? { from: 'Name', name: value } : { from: 'Machine' },
  down: (value: JsonValue | undefined): JsonValue | undefined =>
    isJsonObject(value) && value['from'] !== 'Machine' ? value['name'] : undefined,
};

/** `{b: 2, a: 1}` <-> `[{key: a, value: 1}, {key: b, value: 2}]`; Nova limits keys and values to 255 characters */
export const metadataList: Mapping = {
  up: (value) =>
    isJsonObject(value)
      ? Object.keys(value)
          .sort()
          .map((key) => ({ key: key.slice(0, 255), value: String(value[key] ?? '').slice(0, 255) }))
      : undefined,
  down(value) {
    if (!Array.isArray(value)) return undefined;
    const map: JsonObject = {};
    for (const entry of value) if (isJsonObject(entry)) map[String(entry['key'])] = entry['value'];
    return map;
  },
};
