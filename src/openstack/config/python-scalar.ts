import type { JsonPrimitive } from '../../machinery/index.ts';

/*
 * clouds.yaml is written for PyYAML, a YAML 1.1 parser with special rules: `1e5` is text (ids look like that), `0123`
 * is octal, `1:30` is base 60. openstacksdk converts numbers to text, so they are kept exact here: large integers and
 * all fractions are formatted as Python prints them.
 */

const words = new Map<string, boolean | null>([
  ...['yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, boolean] => [word, true]),
  ...['no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, boolean] => [word, false]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, null] => [word, null]),
]);

const integer = /^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const fraction =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$/;

/** Resolves an unquoted scalar as PyYAML does. */
export function pythonScalar(text: string): JsonPrimitive {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (integer.test(text)) return wholeNumber(text);
  if (fraction.test(text)) return fractionText(text);
  return text;
}

function wholeNumber(text: string): JsonPrimitive {
  const digits = text.replaceAll('_', '');
  const negative = digits.startsWith('-');
  const magnitude = digits.replace(/^[-+]/, '');
  let value: bigint;
  if (magnitude.includes(':')) {
    value = magnitude.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n);
  } else if (/^0[0-7]/.test(magnitude)) {
    value = BigInt(`0o${magnitude.slice(1)}`);
  } else if (/^0[bx]$/.test(magnitude)) {
    return text;
  } else {
    value = BigInt(magnitude);
  }
  if (negative) value = -value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function fractionText(text: string): string {
  const digits = text.replaceAll('_', '');
  const negative = digits.startsWith('-');
  const magnitude = digits.replace(/^[-+]/, '');
  const value = magnitude.includes(':')
    ? magnitude.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
    : Number(magnitude);
  return (negative ? '-' : '') + pythonFloat(value);
}

/**
 * Formats like Python's repr: always with a point or an exponent; with a two-digit exponent from 1e16 on and below
 * 1e-4.
 */
export function pythonFloat(value: number): string {
  if (value === 0) return '0.0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent >= 0 && Number.isInteger(value)) return `${BigInt(value)}.0`;
  const plain = String(value);
  return plain.includes('e') ? value.toFixed(Math.max(0, mantissa.replace('.', '').length - 1 - exponent)) : plain;
}
