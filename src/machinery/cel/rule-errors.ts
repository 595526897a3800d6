import { type FieldError, fieldError } from '../errors/field-error.ts';
import type { JsonValue } from '../json/value.ts';
import type { Schema, ValidationRule } from '../schema/types.ts';
import { hasRules, rulesOf } from './compiled-rules.ts';
import { isExposed } from './schema-values.ts';

/** Collects the compile errors of all rules in a schema, with the path of each rule in its definition. */
export function collectRuleErrors(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  collect(schema, path, { isResource: true, uncorrelatable: undefined }, errors);
  return errors;
}

/** `uncorrelatable` is the path of the first ancestor whose elements cannot be matched to an old object. */
function collect(
  schema: Schema,
  path: string,
  { isResource, uncorrelatable }: { isResource: boolean; uncorrelatable: string | undefined },
  errors: FieldError[],
): void {
  if (!hasRules(schema) || !isExposed(schema)) return;
  if (schema['x-kubernetes-validations']) collectNode(schema, path, { isResource, uncorrelatable }, errors);
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    const embedded = member['x-kubernetes-embedded-resource'] === true;
    collect(member, `${path}.properties[${key}]`, { isResource: embedded, uncorrelatable }, errors);
  }
  if (typeof schema.additionalProperties === 'object') {
    const member = schema.additionalProperties;
    const embedded = member['x-kubernetes-embedded-resource'] === true;
    collect(member, `${path}.additionalProperties`, { isResource: embedded, uncorrelatable }, errors);
  }
  if (schema.items) {
    const embedded = schema.items['x-kubernetes-embedded-resource'] === true;
    const lost = schema['x-kubernetes-list-type'] === 'map' ? uncorrelatable : (uncorrelatable ?? path);
    collect(schema.items, `${path}.items`, { isResource: embedded, uncorrelatable: lost }, errors);
  }
}

function collectNode(
  schema: Schema,
  path: string,
  { isResource, uncorrelatable }: { isResource: boolean; uncorrelatable: string | undefined },
  errors: FieldError[],
): void {
  for (const [i, compiled] of rulesOf(schema, isResource).entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const { rule } = compiled;
    const shown = internalForm(rule);
    if (compiled.problem !== undefined) errors.push(fieldError.invalid(`${at}.rule`, shown, compiled.problem));
    if (compiled.messageProblem !== undefined) {
      errors.push(fieldError.invalid(`${at}.messageExpression`, shown, compiled.messageProblem));
    }
    if (compiled.usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      errors.push(fieldError.invalid(`${at}.rule`, rule.rule, detail));
    } else if (!compiled.usesOldSelf && compiled.problem === undefined && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      errors.push(fieldError.invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, detail));
    }
  }
}

/** kube-apiserver prints a rule as its internal type. */
function internalForm(rule: ValidationRule): JsonValue {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
