import { compileRules } from '../cel/index.ts';
import { type FieldError, fieldError } from '../errors/index.ts';
import { clone, deepEqual, isJsonObject, type JsonValue } from '../json/index.ts';
import { pruneValue, type Schema, validateAgainstSchema } from '../schema/index.ts';

/** Checks that every default in a structural schema is valid by that schema and has no unknown fields. */
export function validateSchemaDefaults(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // A resource must contain its apiVersion and kind. A default cannot supply them.
  if (schema.default !== undefined && schema.default !== null) {
    for (const name of ['apiVersion', 'kind']) {
      if (!isJsonObject(schema.default) || !(name in schema.default)) {
        errors.push(fieldError.required(`${path}.default.${name}`));
      }
    }
  }
  visit(schema, path, errors);
  return errors;
}

function visit(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined && schema.default !== null) validateDefault(schema, schema.default, path, errors);
  // Defaults below additionalProperties do not apply to absent values, so they are not checked.
  if (schema.items) visit(schema.items, `${path}.items`, errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    visit(property, `${path}.properties[${key}]`, errors);
  }
}

function validateDefault(schema: Schema, value: JsonValue, path: string, errors: FieldError[]): void {
  const field = `${path}.default`;
  const pruned = clone(value);
  pruneValue(pruned, schema);
  if (!deepEqual(pruned, value)) errors.push(fieldError.invalid(field, value, 'must not have unknown fields'));
  const problems = validateAgainstSchema(value, schema, { path: field });
  if (problems.length === 0) {
    const rules = compileRules(schema);
    // Checked both as an update without changes and as a create, because rules may depend on either.
    problems.push(...rules.validate(value, value, { path: field, partial: true }));
    if (problems.length === 0) problems.push(...rules.validate(value, undefined, { path: field, partial: true }));
  }
  errors.push(...problems);
}
