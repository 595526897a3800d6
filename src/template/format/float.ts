import { trimTrailing } from '../../machinery/index.ts';

/** Without a precision, smaller exponents are written in plain notation. */
const shortestExponent = 6;

/**
 * Formats a float with Go's `%e`, `%f` or `%g`. Precision -1 is the shortest text that parses back to the same value.
 */
export function formatFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  switch (verb) {
    case 'e':
    case 'E': {
      const text = exponential(size, precision);
      return sign + (verb === 'E' ? text.toUpperCase() : text);
    }
    case 'f':
    case 'F':
      return sign + fixed(size, precision);
    default: {
      const text = general(size, precision);
      return sign + (verb === 'G' ? text.toUpperCase() : text);
    }
  }
}

function exponential(size: number, precision: number): string {
  const [mantissa, exponent] = (
    precision < 0 ? size.toExponential() : size.toExponential(Math.min(precision, 100))
  ).split('e') as [string, string];
  return `${mantissa}e${exponent[0] === '-' ? '-' : '+'}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}

function fixed(size: number, precision: number): string {
  if (precision >= 0) return size < 1e21 ? size.toFixed(Math.min(precision, 100)) : padded(plain(size), precision);
  return plain(size);
}

function padded(whole: string, precision: number): string {
  return precision > 0 ? `${whole}.${'0'.repeat(Math.min(precision, 100))}` : whole;
}

/** Returns all digits without an exponent. */
function plain(size: number): string {
  const [mantissa, exponentText] = size.toExponential().split('e') as [string, string];
  const digits = mantissa.replace('.', '');
  const point = Number(exponentText) + 1;
  if (point <= 0) return size === 0 ? '0' : `0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function general(size: number, precision: number): string {
  if (size === 0) return '0';
  const places = precision === 0 ? 1 : precision;
  const [mantissa, exponentText] = (
    places < 0 ? size.toExponential() : size.toExponential(Math.min(places - 1, 100))
  ).split('e') as [string, string];
  const exponent = Number(exponentText);
  const digits = trimTrailing(mantissa.replace('.', ''), '0') || '0';
  const limit =
    places < 0 ? shortestExponent : places > digits.length && digits.length >= exponent + 1 ? digits.length : places;
  if (exponent < -4 || exponent >= limit) {
    const text = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    return `${text}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const point = exponent + 1;
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`;
}
