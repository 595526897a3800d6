import { must } from '../errors/must.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';

/** A path of plain field names, such as the replica paths of the scale subresource. */
export interface SimplePath {
  readonly fields: readonly string[];
  /** returns the value; undefined when a part of the path is missing */
  get(object: unknown): JsonValue | undefined;
  /** sets the value and creates missing parent objects; does nothing if a parent is not an object */
  set(draft: unknown, value: JsonValue): void;
}

/** Compiles `.spec.replicas`. Throws if the path is not in dot notation. */
export function compileSimplePath(path: string): SimplePath {
  if (!path.startsWith('.') || path.length < 2) throw new Error(`${path} is not a simple JSON path starting with .`);
  const fields = path.slice(1).split('.');
  return {
    fields,
    get(object) {
      let current = object as JsonValue | undefined;
      for (const field of fields) {
        if (!isJsonObject(current) || !Object.hasOwn(current, field)) return undefined;
        current = current[field];
      }
      return current;
    },
    set(draft, value) {
      let current = draft as JsonObject;
      for (let i = 0; i < fields.length - 1; i++) {
        const field = must(fields[i], 'fields[i]');
        const next = Object.hasOwn(current, field) ? current[field] : undefined;
        if (isJsonObject(next)) current = next;
        else if (next === undefined || next === null) {
          const made: JsonObject = {};
          current[field] = made;
          current = made;
        } else return;
      }
      current[must(fields.at(-1), 'the last of fields')] = value;
    },
  };
}
