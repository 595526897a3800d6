import { type FieldError, type FieldErrorType, fieldError } from '../errors/field-error.ts';
import type { JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';
import { validateAgainstSchema } from '../schema/validate.ts';
import { compileRules } from './rules.ts';

/** After errors of these types, rules could see data of unexpected types. */
const blocking: ReadonlySet<FieldErrorType> = new Set([
  'NotSupported',
  'Required',
  'TooLong',
  'TooMany',
  'TypeInvalid',
]);

/**
 * Validates a custom resource: its schema, then its rules unless schema errors make them meaningless. `old` is the
 * object before an update.
 */
export function validateCustomResource(object: JsonValue, schema: Schema, old?: JsonValue): FieldError[] {
  const errors = validateAgainstSchema(object, schema, old === undefined ? {} : { old });
  const rules = compileRules(schema);
  if (rules.isEmpty) return errors;
  if (errors.some((error) => blocking.has(error.type))) {
    const detail =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    return [...errors, fieldError.invalid('', null, detail)];
  }
  return [...errors, ...rules.validate(object, old)];
}
