import {
  checkQualifiedName,
  type FieldError,
  fieldError,
  parseQuantity,
  quantityFormatText,
} from '../../machinery/index.ts';

/** A value that must be one of a few; empty or absent ones are reported as required. */
export function validateRequiredEnum(
  value: string | undefined,
  allowed: readonly string[],
  path: string,
): FieldError[] {
  if (value === undefined || value === '') return [fieldError.required(path)];
  return validateEnum(value, allowed, path);
}

/** A value that must be one of a few when it is there. */
export function validateEnum(value: string | undefined, allowed: readonly string[], path: string): FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

/** Names what is allowed in the given order: upstream sorts some lists and not others. */
export function notSupported(path: string, value: unknown, allowed: readonly string[]): FieldError {
  const detail = `supported values: ${allowed.map((item) => JSON.stringify(item)).join(', ')}`;
  return { type: 'NotSupported', field: path, value, detail };
}

/** Problems of a check as errors of a field. */
export function invalid(path: string, value: unknown, problems: readonly string[]): FieldError[] {
  return problems.map((text) => fieldError.invalid(path, value, text));
}

export function validateRequiredText(value: string | undefined, path: string, detail = ''): FieldError[] {
  return value === undefined || value === '' ? [fieldError.required(path, detail)] : [];
}

/** A quantity that is not negative. */
export function validateNonNegativeQuantity(value: unknown, path: string): FieldError[] {
  const quantity = parseQuantity(value);
  if (!quantity) return [fieldError.invalid(path, value, quantityFormatText)];
  return quantity.nanos < 0n ? [fieldError.invalid(path, value, 'must be greater than or equal to 0')] : [];
}

/** Names of resources: standard ones, or qualified ones of extensions. */
export function validateResourceName(name: string, path: string): FieldError[] {
  return invalid(path, name, checkQualifiedName(name));
}
