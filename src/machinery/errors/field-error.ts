import { jsonText } from '../json/stringify.ts';
import type { JsonValue } from '../json/value.ts';

/** Type of a field error, in the vocabulary of Kubernetes validation. */
export type FieldErrorType =
  | 'Invalid'
  | 'Required'
  | 'NotSupported'
  | 'Forbidden'
  | 'Duplicate'
  | 'NotFound'
  | 'TooLong'
  | 'TooMany'
  | 'TypeInvalid'
  | 'InternalError';

export interface FieldError {
  type: FieldErrorType;
  /** path such as `spec.ports[0].port`; empty for the whole object, printed as `<nil>` */
  field: string;
  value?: unknown;
  /** the rule that was violated, without the leading field and value */
  detail: string;
}

/** `push(...more)` passes every element as an argument, and fails beyond about a hundred thousand elements. */
export function appendErrors(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error);
}

const causeReasons: Record<FieldErrorType, string> = {
  Invalid: 'FieldValueInvalid',
  Required: 'FieldValueRequired',
  NotSupported: 'FieldValueNotSupported',
  Forbidden: 'FieldValueForbidden',
  Duplicate: 'FieldValueDuplicate',
  NotFound: 'FieldValueNotFound',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  TypeInvalid: 'FieldValueTypeInvalid',
  InternalError: 'InternalError',
};

const titles: Record<FieldErrorType, string> = {
  Invalid: 'Invalid value',
  Required: 'Required value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  NotFound: 'Not found',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

export function causeReason(type: FieldErrorType): string {
  return causeReasons[type];
}

/** Formats values like Go's %#v and JSON: strings quoted, objects as JSON. */
function formatValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  return jsonText(value) ?? 'null';
}

/** Text after "field: ", e.g. `Invalid value: -1: must be greater than or equal to 0`. */
export function fieldErrorBody(error: FieldError): string {
  const title = titles[error.type];
  switch (error.type) {
    case 'Required':
    case 'Forbidden':
    case 'TooLong':
    case 'InternalError':
    case 'TooMany':
      return error.detail === '' ? title : `${title}: ${error.detail}`;
    default: {
      const text = `${title}: ${formatValue(error.value)}`;
      return error.detail === '' ? text : `${text}: ${error.detail}`;
    }
  }
}

export function formatFieldError(error: FieldError): string {
  return `${error.field === '' ? '<nil>' : error.field}: ${fieldErrorBody(error)}`;
}

/** Constructors of field errors. */
export const fieldError = {
  invalid: (field: string, value: unknown, detail: string): FieldError => ({ type: 'Invalid', field, value, detail }),
  required: (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail }),
  forbidden: (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail }),
  duplicate: (field: string, value: unknown): FieldError => ({ type: 'Duplicate', field, value, detail: '' }),
  notFound: (field: string, value: unknown): FieldError => ({ type: 'NotFound', field, value, detail: '' }),
  notSupported: (field: string, value: unknown, allowed: readonly JsonValue[]): FieldError => ({
    type: 'NotSupported',
    field,
    value,
    detail: `supported values: ${[...allowed]
      .map((v) => JSON.stringify(v))
      .sort()
      .join(', ')}`,
  }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError => ({
    type: 'TypeInvalid',
    field,
    value,
    detail,
  }),
  tooLong: (field: string, value: unknown, maxBytes: number): FieldError => ({
    type: 'TooLong',
    field,
    value,
    detail: maxBytes >= 0 ? `may not be more than ${maxBytes} bytes` : 'value is too long',
  }),
  tooMany: (field: string, actual: number, max: number): FieldError => ({
    type: 'TooMany',
    field,
    value: actual,
    detail: `${actual}: must have at most ${max} items`,
  }),
};
