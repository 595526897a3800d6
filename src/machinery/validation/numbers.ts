import { type FieldError, fieldError } from '../errors/field-error.ts';
import { checkPortName, patternText } from './names.ts';

const percentPattern = /^[0-9]+%$/;

/** A number, or a text such as a percentage or a port name. */
export type IntOrString = number | string;

export function rangeText(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

export function checkPort(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : [rangeText(1, 65535)];
}

export function checkPercent(value: string): string[] {
  return percentPattern.test(value)
    ? []
    : [
        patternText(
          "a valid percent string must be a numeric string followed by an ending '%'",
          '[0-9]+%',
          '1%',
          '93%',
        ),
      ];
}

/** Number before the percent sign; undefined if the value is not a percentage. */
export function percentOf(value: IntOrString | undefined): number | undefined {
  return typeof value === 'string' && percentPattern.test(value) ? Number(value.slice(0, -1)) : undefined;
}

/** Converts `25%` to a share of `total`, rounded up or down. A number is returned unchanged. */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  const percent = percentOf(value);
  if (percent === undefined) return typeof value === 'number' ? value : Number.parseInt(value, 10) || 0;
  const exact = (percent * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

export function validateNonNegative(value: number | undefined, path: string): FieldError[] {
  return value !== undefined && value < 0
    ? [fieldError.invalid(path, value, 'must be greater than or equal to 0')]
    : [];
}

export function validatePositive(value: number | undefined, path: string): FieldError[] {
  return value !== undefined && value <= 0 ? [fieldError.invalid(path, value, 'must be greater than 0')] : [];
}

/** Checks for a non-negative number or a percentage. */
export function validateNonNegativeIntOrPercent(value: IntOrString | undefined, path: string): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return validateNonNegative(value, path);
  return checkPercent(value).map((text) => fieldError.invalid(path, value, text));
}

/** Rejects percentages above 100. */
export function validateNotMoreThan100Percent(value: IntOrString | undefined, path: string): FieldError[] {
  const percent = percentOf(value);
  return percent !== undefined && percent > 100
    ? [fieldError.invalid(path, value, 'must not be greater than 100%')]
    : [];
}

/** Checks a port number or name. */
export function validatePortNumberOrName(value: IntOrString | undefined, path: string): FieldError[] {
  const problems = typeof value === 'string' ? checkPortName(value) : checkPort(value ?? 0);
  return problems.map((text) => fieldError.invalid(path, value ?? 0, text));
}
