import { integerValue, type LargeIntegers } from './strict-json.ts';
import type { JsonPrimitive } from './value.ts';

/**
 * Resolves an unquoted scalar as kubectl and kube-apiserver do. This is YAML 1.1 with exceptions: `yes` and `on` are
 * booleans, `017` and `0o17` are octal, but dates and base-60 numbers stay strings.
 */
export function resolvePlainScalar(text: string, largeIntegers: LargeIntegers = 'refuse'): JsonPrimitive {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (infinities.test(text)) throw new RangeError(`unsupported value: ${text}`);
  const first = text.charCodeAt(0);
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  return mayBeNumber ? (resolveNumber(text, largeIntegers) ?? text) : text;
}

const words = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((w): [string, boolean] => [w, true]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((w): [string, boolean] => [
    w,
    false,
  ]),
  ...['', '~', 'null', 'Null', 'NULL'].map((w): [string, null] => [w, null]),
]);
const infinities = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/;
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const maxUint64 = 2n ** 64n - 1n;
const minInt64 = -(2n ** 63n);

function resolveNumber(text: string, largeIntegers: LargeIntegers): number | bigint | undefined {
  // Upstream parses a leading dot with other code, which does not support underscores.
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '');
  const whole = integer.exec(digits);
  if (whole) {
    const [, sign, hex, binary, octal, decimal] = whole;
    const magnitude = hex ? `0x${hex}` : binary ? `0b${binary}` : octal ? `0o${octal}` : (decimal ?? '');
    const exact = sign === '-' ? -BigInt(magnitude) : BigInt(magnitude);
    if (exact >= minInt64 && exact <= maxUint64) {
      return integerValue(exact, largeIntegers);
    }
  }
  if (!float.test(digits)) return undefined;
  const value = Number(digits);
  return Number.isFinite(value) ? value : undefined;
}

/** Formats a number like Go's shortest `%g`: `1e+06`, `1.5`, `1e-07`. */
export function formatGoFloat(value: number): string {
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}
