import type { Schema } from './types.ts';

/** Calls back for every direct child schema that applies to a part of the value. */
export function forEachChild(schema: Schema, visit: (child: Schema) => void): void {
  for (const property of Object.values(schema.properties ?? {})) visit(property);
  if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  if (schema.items) visit(schema.items);
}

/**
 * Builds a cached query: does any schema at or below a node satisfy the condition? Walks use it to skip irrelevant
 * parts of an object. Schemas may be recursive.
 */
export function subtreeQuery(condition: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const answers = new WeakMap<Schema, boolean>();
  const search = (schema: Schema, seen: Set<Schema>): boolean => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    if (seen.has(schema)) return false;
    seen.add(schema);
    let found = condition(schema);
    if (!found) {
      forEachChild(schema, (child) => {
        if (!found) found = search(child, seen);
      });
    }
    if (found) answers.set(schema, true);
    return found;
  };
  return (schema) => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    const seen = new Set<Schema>();
    const found = search(schema, seen);
    // A negative result holds for every schema that was visited.
    if (!found) for (const visited of seen) answers.set(visited, false);
    return found;
  };
}
