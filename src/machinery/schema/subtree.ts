import type { Schema } from './types.ts';

/** Calls back for every schema directly below a node that applies to a part of the value. */
export function forEachChild(schema: Schema, visit: (child: Schema) => void): void {
  for (const property of Object.values(schema.properties ?? {})) visit(property);
  if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  if (schema.items) visit(schema.items);
}

/**
 * Makes a cached answer to "does anything at or below this schema node satisfy the condition?", so that walks can skip
 * the parts of an object that do not matter. Schemas may be recursive.
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
    // a negative answer holds for everything that was searched
    if (!found) for (const visited of seen) answers.set(visited, false);
    return found;
  };
}
