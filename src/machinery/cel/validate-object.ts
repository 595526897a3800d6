import { type FieldError, type FieldErrorType, fieldError } from '../errors/field-error.ts';
import type { JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';
import { validateAgainstSchema } from '../schema/validate.ts';
import { compileRules } from './rules.ts';

/** With errors of these types around, rules might look at data that are not what they seem. */
const blocking: ReadonlySet<FieldErrorType> = new Set([
  'NotSupported',
  'Required',
  'TooLong',
  'TooMany',
  'TypeInvalid',
]);

/**
 * The whole validation of a custom resource: its schema, then its rules unless the schema was violated in a way that
 * makes them meaningless. `old` is the object before an update.
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
