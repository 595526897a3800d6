import { isJsonObject, type JsonObject, type JsonValue, must } from '../../machinery/index.ts';

/** What a mapping may need to know of the object around the value. */
export interface MappingContext {
  namespace: string | undefined;
  /** the version that is not the hub */
  version: string;
}

/** How a value of an old version is said in the hub version, and back. Undefined means it cannot be said. */
export interface Mapping {
  up(value: JsonValue, context: MappingContext): JsonValue | undefined;
  down(value: JsonValue, context: MappingContext): JsonValue | undefined;
}

/** One field under two names. Paths are dotted; the objects between are made as needed. */
export interface FieldMapping {
  old: readonly string[];
  hub: readonly string[];
  mapping: Mapping;
}

export const asIs: Mapping = { up: (value) => value, down: (value) => value };

/** A field that has another place, another form, or both. */
export function field(old: string, hub: string = old, mapping: Mapping = asIs): FieldMapping {
  return { old: old.split('.'), hub: hub.split('.'), mapping };
}

/**
 * The fields of an object. What is not listed keeps its name and form (and is cut to the schema afterwards); the first
 * segment of a listed path is taken away from that rule, on the side it belongs to.
 */
export function fields(...listed: readonly FieldMapping[]): Mapping {
  const oldNames = new Set(listed.flatMap((entry) => entry.old.slice(0, 1)));
  const hubNames = new Set(listed.flatMap((entry) => entry.hub.slice(0, 1)));
  return {
    up(value, context) {
      if (!isJsonObject(value)) return undefined;
      const result = rest(value, oldNames);
      for (const { old, hub, mapping } of listed) {
        const member = valueAt(value, old);
        if (member === undefined || member === null) continue;
        const mapped = mapping.up(member, context);
        if (mapped !== undefined) place(result, hub, mapped);
      }
      return result;
    },
    down(value, context) {
      if (!isJsonObject(value)) return undefined;
      const result = rest(value, hubNames);
      for (const { old, hub, mapping } of listed) {
        const member = valueAt(value, hub);
        if (member === undefined || member === null) continue;
        const mapped = mapping.down(member, context);
        if (mapped !== undefined) place(result, old, mapped);
      }
      return result;
    },
  };
}

/** every item of a list */
export function each(mapping: Mapping): Mapping {
  const run = (value: JsonValue, one: (item: JsonValue) => JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(value) ? value.map(one).filter((item) => item !== undefined) : undefined;
  return {
    up: (value, context) => run(value, (item) => mapping.up(item, context)),
    down: (value, context) => run(value, (item) => mapping.down(item, context)),
  };
}

/** first one mapping, then the next, towards the hub */
export function chain(...mappings: readonly Mapping[]): Mapping {
  const backwards = [...mappings].reverse();
  return {
    up: (value, context) =>
      mappings.reduce<JsonValue | undefined>((v, m) => (v === undefined ? v : m.up(v, context)), value),
    down: (value, context) =>
      backwards.reduce<JsonValue | undefined>((v, m) => (v === undefined ? v : m.down(v, context)), value),
  };
}

function rest(value: JsonObject, listed: ReadonlySet<string>): JsonObject {
  const result: JsonObject = {};
  for (const key in value) if (!listed.has(key)) result[key] = value[key];
  return result;
}

export function valueAt(value: JsonObject, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of path) {
    if (!isJsonObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** Sets a value deep inside a fresh object; an object already there from an earlier field is copied, never changed. */
export function place(target: JsonObject, path: readonly string[], value: JsonValue): void {
  let current = target;
  for (const name of path.slice(0, -1)) {
    const existing = current[name];
    const next: JsonObject = isJsonObject(existing) ? { ...existing } : {};
    current[name] = next;
    current = next;
  }
  const last = must(path.at(-1), 'the last of a path');
  const existing = current[last];
  current[last] = isJsonObject(existing) && isJsonObject(value) ? { ...existing, ...value } : value;
}
