import { isJsonObject, type JsonObject, type JsonValue, must } from '../../machinery/index.ts';

export interface MappingContext {
  namespace: string | undefined;
  /** the version other than the hub */
  version: string;
}

/** Maps a value of an old version to the hub version and back. Undefined means that the value cannot be expressed. */
export interface Mapping {
  up(value: JsonValue, context: MappingContext): JsonValue | undefined;
  down(value: JsonValue, context: MappingContext): JsonValue | undefined;
}

/** A field and its paths in both versions. Missing intermediate objects are created. */
export interface FieldMapping {
  old: readonly string[];
  hub: readonly string[];
  mapping: Mapping;
}

export const asIs: Mapping = { up: (value) => value, down: (value) => value };

/** Maps a field that has another path, another form, or both. */
export function field(old: string, hub: string = old, mapping: Mapping = asIs): FieldMapping {
  return { old: old.split('.'), hub: hub.split('.'), mapping };
}

/**
 * Maps the fields of an object. Unlisted fields keep their name and form and are cut to the schema afterwards. The
 * first segment of a listed path is exempt from that rule on its side.
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

/** maps every item of a list */
export function each(mapping: Mapping): Mapping {
  const run = (value: JsonValue, one: (item: JsonValue) => JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(value) ? value.map(one).filter((item) => item !== undefined) : undefined;
  return {
    up: (value, context) => run(value, (item) => mapping.up(item, context)),
    down: (value, context) => run(value, (item) => mapping.down(item, context)),
  };
}

/** applies the mappings in order towards the hub, and in reverse order back */
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

/** Sets a deep value in a fresh object. Objects from an earlier field are copied, never changed. */
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
