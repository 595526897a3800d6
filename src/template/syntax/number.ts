import { quoteGo, unquoteGo } from './quote.ts';

export interface NumberLiteral {
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
}

const maxUint = 2n ** 64n - 1n;
const maxInt = 2n ** 63n - 1n;
const minInt = -(2n ** 63n);
const whole =
  /^([+-]?)(?:0[xX](_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|0[bB](_?[01]+(?:_[01]+)*)|0[oO]?(_?[0-7]+(?:_[0-7]+)*)|(0|[1-9][0-9]*(?:_[0-9]+)*))$/;
const decimal = /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?$/;
const hexFloat = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)$/;

/**
 * Parses a literal as integer, unsigned integer and float, as far as it fits. Returns a string with the error if it is
 * invalid.
 */
export function parseNumber(text: string, type: 'charConstant' | 'complex' | 'number'): NumberLiteral | string {
  if (type === 'charConstant') return characterConstant(text);
  if (type === 'complex' || text.endsWith('i')) return `imaginary numbers are not supported: ${quoteGo(text)}`;
  let int = parseWhole(text);
  if (int !== undefined) {
    return {
      int: int >= minInt && int <= maxInt ? int : undefined,
      uint: int >= 0n && int <= maxUint && !/^[+-]/.test(text) ? int : undefined,
      float: Number(int),
    };
  }
  const float = parseFloatLiteral(text);
  if (float === undefined) return `illegal number syntax: ${quoteGo(text)}`;
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quoteGo(text)}`;
  if (Number.isInteger(float) && Math.abs(float) < 2 ** 63) int = BigInt(float);
  return { int, uint: int !== undefined && int >= 0n ? int : undefined, float };
}

function parseWhole(text: string): bigint | undefined {
  const found = whole.exec(text);
  if (!found) return undefined;
  const [, sign, hex, binary, octal, digits] = found;
  const magnitude = hex ? `0x${hex}` : binary ? `0b${binary}` : octal ? `0o${octal}` : (digits ?? '');
  const value = BigInt(magnitude.replaceAll('_', ''));
  const signed = sign === '-' ? -value : value;
  return signed < minInt || signed > maxUint ? undefined : signed;
}

function parseFloatLiteral(text: string): number | undefined {
  if (decimal.test(text)) {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value : undefined;
  }
  const hex = hexFloat.exec(text.replaceAll('_', ''));
  if (!hex) return undefined;
  const [, sign, before = '', after = '', exponent] = hex;
  if (before === '' && after === '') return undefined;
  const value = Number.parseInt(`${before}${after}`, 16) * 2 ** (Number(exponent) - 4 * after.length);
  return sign === '-' ? -value : value;
}

function characterConstant(text: string): NumberLiteral | string {
  const malformed = `malformed character constant: ${text}`;
  if (text[0] !== "'") return malformed;
  const value = unquoteGo(text);
  if (value === undefined || value === '') return 'invalid syntax';
  if ([...value].length !== 1) return malformed;
  const code = value.codePointAt(0) ?? 0;
  return { int: BigInt(code), uint: BigInt(code), float: code };
}
