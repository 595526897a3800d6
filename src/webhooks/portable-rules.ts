import { isJsonObject, type JsonValue, type ResourceDefinition } from '../machinery/index.ts';

const rulesField = 'x-kubernetes-validations';

/**
 * Functions of rules that came with Kubernetes 1.29 to 1.32. An older API server refuses the whole definition for one such
 * rule; these are left to the webhook, so that one definition serves all.
 */
const laterFunctions = /\b(isIP|ip|isCIDR|cidr|isQuantity|quantity|format\.\w+|isSemver|semver)\(/;

const isLater = (rule: JsonValue): boolean =>
  isJsonObject(rule) && typeof rule['rule'] === 'string' && laterFunctions.test(rule['rule']);

/** A schema, or any part of one, without the rules that older API servers do not understand. */
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

/** Whether a kind has rules that its definition is published without. */
export function hasLaterRules(definition: ResourceDefinition): boolean {
  const found = known.get(definition) ?? laterFunctions.test(JSON.stringify(definition.crd ?? {}));
  known.set(definition, found);
  return found;
}
