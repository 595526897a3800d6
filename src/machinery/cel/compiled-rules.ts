import { subtreeQuery } from '../schema/subtree.ts';
import type { Schema } from '../schema/types.ts';
import { type CompiledRule, compileRule } from './rule.ts';

/** Reports whether there are rules at or below a schema node. */
export const hasRules: (schema: Schema) => boolean = subtreeQuery(
  (schema) => (schema['x-kubernetes-validations']?.length ?? 0) > 0,
);

const compiledRules = new WeakMap<Schema, CompiledRule[]>();

/** Returns the rules of one schema node, compiled on first use. */
export function rulesOf(schema: Schema, isResource: boolean): CompiledRule[] {
  let rules = compiledRules.get(schema);
  if (!rules) {
    rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, schema, isResource));
    compiledRules.set(schema, rules);
  }
  return rules;
}
