import {
  checkQualifiedName,
  type FieldError,
  fieldError,
  parseQuantity,
  quantityFormatText,
} from '../../machinery/index.ts';

/** Requires one of the allowed values. An empty or absent value is reported as required. */
export function validateRequiredEnum(
  value: string | undefined,
  allowed: readonly string[],
  path: string,
): FieldError[] {
  if (value === undefined || value === '') return [fieldError.required(path)];
  return validateEnum(value, allowed, path);
}

/** Accepts an absent value or one of the allowed values. */
export function validateEnum(value: string | undefined, allowed: readonly string[], path: string): FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

/** Keeps the order of the allowed values, because upstream sorts only some of these lists. */
export function notSupported(path: string, value: unknown, allowed: readonly string[]): FieldError {
  const detail = `supported values: ${allowed.map((item) => JSON.stringify(item)).join(', ')}`;
  return { type: 'NotSupported', field: path, value, detail };
}

export function invalid(path: string, value: unknown, problems: readonly string[]): FieldError[] {
  return problems.map((text) => fieldError.invalid(path, value, text));
}

export function validateRequiredText(value: string | undefined, path: string, detail = ''): FieldError[] {
  return value === undefined || value === '' ? [fieldError.required(path, detail)] : [];
}

export function validateNonNegativeQuantity(value: unknown, path: string): FieldError[] {
  const quantity = parseQuantity(value);
  if (!quantity) return [fieldError.invalid(path, value, quantityFormatText)];
  return quantity.nanos < 0n ? [fieldError.invalid(path, value, 'must be greater than or equal to 0')] : [];
}

/** Accepts standard resource names and qualified names of extended resources. */
export function validateResourceName(name: string, path: string): FieldError[] {
  return invalid(path, name, checkQualifiedName(name));
}
