import { isJsonObject, type JsonValue, type ResourceDefinition } from '../machinery/index.ts';

const rulesField = 'x-kubernetes-validations';

/**
 * CEL functions added in Kubernetes 1.29 to 1.32. An older API server refuses a definition that uses one, so the
 * webhook checks these rules, and one definition works everywhere.
 */
const laterFunctions = /\b(isIP|ip|isCIDR|cidr|isQuantity|quantity|format\.\w+|isSemver|semver)\(/;

const isLater = (rule: JsonValue): boolean =>
  isJsonObject(rule) && typeof rule['rule'] === 'string' && laterFunctions.test(rule['rule']);

/** Removes rules that older API servers do not support from a schema or part of one. */
export function withoutLaterRules(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withoutLaterRules);
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === undefined) return [];
    if (name !== rulesField || !Array.isArray(value)) return [[name, withoutLaterRules(value)]];
    const rules = value.filter((rule) => !isLater(rule));
    return rules.length === 0 ? [] : [[name, rules]];
  });
  return Object.fromEntries(kept);
}

const known = new WeakMap<ResourceDefinition, boolean>();

/** Reports whether the published definition of a kind lacks some rules. */
export function hasLaterRules(definition: ResourceDefinition): boolean {
  const found = known.get(definition) ?? laterFunctions.test(JSON.stringify(definition.crd ?? {}));
  known.set(definition, found);
  return found;
}
