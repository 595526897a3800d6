import { type FieldError, fieldError, resolveFieldPath, type Schema } from '../../machinery/index.ts';
import type { CrdColumn, CrdSelectableField, CrdSubresources } from './types.ts';

const columnTypes = 'boolean,date,integer,number,string';
const columnFormats = 'byte,date,date-time,double,float,int32,int64,password';
const maxSelectableFields = 8;

export function validateDeprecation(
  deprecated: boolean | undefined,
  warning: string | undefined,
  path: string,
): FieldError[] {
  if (warning === undefined) return [];
  const problems: string[] = [];
  if (!deprecated) problems.push('can only be set for deprecated versions');
  else {
    if (Buffer.byteLength(warning) > 256) problems.push('must be <= 256 characters long');
    if (warning === '') problems.push('must not be an empty string');
    const unprintable = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
    if (unprintable >= 0) {
      const index = Buffer.byteLength(warning.slice(0, unprintable));
      problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
    }
  }
  return problems.map((problem) => fieldError.invalid(`${path}.deprecationWarning`, warning, problem));
}

export function validateColumn(column: CrdColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!column.name) errors.push(fieldError.required(`${path}.name`));
  if (!column.type) errors.push(fieldError.required(`${path}.type`, `must be one of ${columnTypes}`));
  else if (!columnTypes.split(',').includes(column.type)) {
    errors.push(fieldError.invalid(`${path}.type`, column.type, `must be one of ${columnTypes}`));
  }
  if (column.format && !columnFormats.split(',').includes(column.format)) {
    errors.push(fieldError.invalid(`${path}.format`, column.format, `must be one of ${columnFormats}`));
  }
  if (!column.jsonPath) errors.push(fieldError.required(`${path}.JSONPath`));
  else errors.push(...validateSimplePath(column.jsonPath, `${path}.JSONPath`));
  return errors;
}

function validateSimplePath(text: string, field: string): FieldError[] {
  return text.startsWith('.') ? [] : [fieldError.invalid(field, text, 'must be a simple json path starting with .')];
}

export function validateSubresources(subresources: CrdSubresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  const errors: FieldError[] = [];
  const check = (name: keyof typeof scale, prefixes: readonly string[], demand: string): void => {
    const field = `${path}.scale.${name}`;
    const value = scale[name];
    if (!value) {
      if (name !== 'labelSelectorPath') errors.push(fieldError.required(field));
      return;
    }
    const problems = validateSimplePath(value, field);
    if (problems.length > 0) errors.push(...problems);
    else if (!prefixes.some((prefix) => value.startsWith(prefix)))
      errors.push(fieldError.invalid(field, value, demand));
  };
  check('specReplicasPath', ['.spec.'], 'should be a json path under .spec');
  check('statusReplicasPath', ['.status.'], 'should be a json path under .status');
  check('labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status');
  return errors;
}

export function validateSelectableFields(
  fields: readonly CrdSelectableField[] | undefined,
  schema: Schema | undefined,
  path: string,
): FieldError[] {
  if (!fields || fields.length === 0 || !schema) return [];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  fields.forEach(({ jsonPath }, i) => {
    const field = `${path}[${i}].jsonPath`;
    if (!jsonPath) {
      errors.push(fieldError.required(field));
      return;
    }
    const resolved = resolveFieldPath(jsonPath, schema, { allowBrackets: false });
    if (typeof resolved === 'string') {
      errors.push(fieldError.invalid(field, jsonPath, `is an invalid path: ${resolved}`));
      return;
    }
    if (resolved.root === 'metadata') {
      errors.push(fieldError.invalid(field, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(resolved.schema.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(fieldError.invalid(field, jsonPath, detail));
    }
    if (seen.has(resolved.path)) errors.push(fieldError.duplicate(field, jsonPath));
    seen.add(resolved.path);
  });
  if (seen.size > maxSelectableFields) errors.push(fieldError.tooMany(path, seen.size, maxSelectableFields));
  return errors;
}
