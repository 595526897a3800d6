import { deepEqual, isJsonObject, type JsonObject, type JsonValue } from '../../src/machinery/index.ts';

/** One write of a controller to the management API. */
export interface Write {
  readonly atMs: number;
  /** the controller; undefined for what no controller writes */
  readonly writer: string | undefined;
  /** with the subresource */
  readonly verb: string;
  readonly plural: string;
  readonly name: string;
  /** the object, or the patch */
  readonly content: unknown;
}

/** Says in one line what each write changes. Conditions are compared with those of the write before. */
export class WriteList {
  /** object -> its conditions by type */
  readonly #conditions = new Map<string, Map<string, JsonObject>>();

  describe({ verb, plural, name, content }: Write): string {
    if (!isJsonObject(content)) return '';
    if (plural === 'events') return `${text(at(content, 'reason'))}: ${text(at(content, 'message'))}`;
    if (!verb.startsWith('patch')) return '';
    const { metadata, spec, status, data } = content;
    return [
      ...members('metadata', metadata).filter((member) => !member.startsWith('metadata.resourceVersion')),
      ...members('spec', spec),
      ...members('data', data),
      ...this.#status(`${plural} ${name}`, status),
    ].join(' ');
  }

  #status(object: string, status: JsonValue | undefined): string[] {
    if (!isJsonObject(status)) return [];
    const { conditions, deprecated, ...others } = status;
    const before = this.#conditions.get(object) ?? new Map<string, JsonObject>();
    const after = new Map<string, JsonObject>();
    const changed: string[] = [];
    for (const condition of Array.isArray(conditions) ? conditions : []) {
      if (!isJsonObject(condition)) continue;
      const type = text(condition['type']);
      after.set(type, condition);
      const old = before.get(type);
      if (deepEqual(old, condition)) continue;
      changed.push(`${type}=${text(condition['status'])}/${text(condition['reason'])}`);
    }
    if (Array.isArray(conditions)) {
      for (const type of before.keys()) if (!after.has(type)) changed.push(`-${type}`);
      this.#conditions.set(object, after);
    }
    return [...members('status', others), ...(deprecated === undefined ? [] : ['deprecated']), ...changed];
  }
}

/** Names of changed members, with short values. */
function members(path: string, value: JsonValue | undefined): string[] {
  if (value === undefined) return [];
  if (!isJsonObject(value)) return [`${path}=${short(value)}`];
  return Object.entries(value).flatMap(([key, member]) => members(`${path}.${key}`, member));
}

function at(object: JsonObject, key: string): JsonValue | undefined {
  return object[key];
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

const longest = 60;

function short(value: JsonValue): string {
  const shown = Array.isArray(value) ? `[${value.map(nameOf).join(',')}]` : text(value);
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}

function nameOf(value: JsonValue): string {
  if (!isJsonObject(value)) return text(value);
  return [value['kind'], value['name'] ?? value['type'] ?? value['address']]
    .filter((part) => part !== undefined)
    .map(text)
    .join('/');
}
