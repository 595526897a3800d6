import { quoteGo } from '../syntax/index.ts';
import { escapeRune } from '../syntax/quote.ts';
import { GoObject, Int, isList, isMap, kindOf, sortedKeys, typeOf, type Value } from '../values/index.ts';
import { type Flags, noFlags, pad, padNumber } from './flags.ts';
import { formatFloat } from './float.ts';

/** Limits of printed text. Both methods throw if a limit is exceeded. */
export interface PrintBudget {
  /** called for each printed value */
  spend(steps: number): void;
  /** called before a text of this length is built */
  reserve(characters: number): void;
}

/** Formats a value like `%v`. */
export function printValue(value: Value, budget: PrintBudget): string {
  if (typeof value === 'string') return value;
  return new Printer(budget).value(value, 'v', noFlags(), 0);
}

/** Limit of nesting, because a dict may contain itself. */
const maxDepth = 200;

/** Prints values with one verb of Go's fmt. */
export class Printer {
  readonly #budget: PrintBudget;

  constructor(budget: PrintBudget) {
    this.#budget = budget;
  }

  value(value: Value, verb: string, flags: Flags, depth: number): string {
    this.#budget.spend(1);
    if (depth > maxDepth) {
      this.#budget.reserve(Number.POSITIVE_INFINITY);
      return '';
    }
    if (value === undefined || value === null) return this.#nil(verb, flags, depth);
    if (verb === 'T') return pad(typeOf(value), flags);
    switch (typeof value) {
      case 'boolean':
        return verb === 't' || verb === 'v' ? pad(String(value), flags) : this.#bad(value, verb, flags);
      case 'number':
        return this.#float(value, verb, flags);
      case 'string':
        return this.#string(value, verb, flags);
    }
    if (value instanceof Int) return this.#int(value, verb, flags);
    if (value instanceof GoObject) return this.#string(value.toText(), verb, flags);
    const { isGoSyntax } = flags;
    if (isList(value)) {
      if (kindOf(value[0]) === 'uint8' && 'sxXq'.includes(verb)) {
        const bytes = Buffer.from(value.map((item) => (item instanceof Int ? Number(item.value) : 0)));
        return this.#string(bytes.toString('utf8'), verb, flags);
      }
      const items = value.map((item) => this.value(item, verb, flags, depth + 1));
      return isGoSyntax ? `${typeOf(value)}{${items.join(', ')}}` : `[${items.join(' ')}]`;
    }
    if (isMap(value)) {
      const entries = sortedKeys(value).map((key) => {
        const name = this.#string(key, verb, flags);
        return `${name}:${this.value(value.get(key), verb, flags, depth + 1)}`;
      });
      return isGoSyntax ? `${typeOf(value)}{${entries.join(', ')}}` : `map[${entries.join(' ')}]`;
    }
    return '';
  }

  #nil(verb: string, flags: Flags, depth: number): string {
    if (depth > 0) return flags.isGoSyntax ? 'interface {}(nil)' : '<nil>';
    return verb === 'v' || verb === 'T' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  }

  #bad(value: Value, verb: string, flags: Flags): string {
    return `%!${verb}(${typeOf(value)}=${this.value(value, 'v', flags, 0)})`;
  }

  #float(value: number, verb: string, flags: Flags): string {
    let text: string;
    switch (verb) {
      case 'v':
        text = formatFloat(value, 'g', flags.precision ?? -1);
        break;
      case 'g':
      case 'G':
        text = formatFloat(value, verb, flags.precision ?? -1);
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
        text = formatFloat(value, verb, flags.precision ?? 6);
        break;
      case 'x':
      case 'X':
        text = hexFloat(value);
        if (verb === 'X') text = text.toUpperCase();
        break;
      default:
        return this.#bad(value, verb, flags);
    }
    if (flags.isSharp && 'vgG'.includes(verb) && Number.isFinite(value)) text = significant(text, flags.precision ?? 6);
    if (flags.isPlus && !/^[-+]/.test(text)) text = `+${text}`;
    else if (flags.isSpace && !/^[-+]/.test(text)) text = ` ${text}`;
    return padNumber(text, flags, Number.isFinite(value));
  }

  #int(int: Int, verb: string, flags: Flags): string {
    const { value } = int;
    switch (verb) {
      case 'v':
      case 'd':
        return this.#integer(value, 10, '', flags);
      case 'b':
        return this.#integer(value, 2, flags.isSharp ? '0b' : '', flags);
      case 'o':
        return this.#integer(value, 8, flags.isSharp ? '0' : '', flags);
      case 'O':
        return this.#integer(value, 8, '0o', flags);
      case 'x':
        return this.#integer(value, 16, flags.isSharp ? '0x' : '', flags);
      case 'X':
        return this.#integer(value, 16, flags.isSharp ? '0X' : '', flags).toUpperCase();
      case 'c':
        return pad(runeText(value), flags);
      case 'q': {
        const rune = runeText(value);
        return pad(`'${escapeRune(rune, "'", flags.isPlus)}'`, flags);
      }
      case 'U': {
        const hex = BigInt.asUintN(64, value).toString(16).toUpperCase().padStart(4, '0');
        return pad(`U+${hex}${flags.isSharp ? ` '${runeText(value)}'` : ''}`, flags);
      }
      default:
        return this.#bad(int, verb, flags);
    }
  }

  #integer(value: bigint, base: number, prefix: string, flags: Flags): string {
    const isNegative = value < 0n;
    let digits = (isNegative ? -value : value).toString(base);
    if (flags.precision !== undefined) {
      this.#budget.reserve(flags.precision);
      digits = flags.precision === 0 && value === 0n ? '' : digits.padStart(flags.precision, '0');
    }
    const sign = isNegative ? '-' : flags.isPlus ? '+' : flags.isSpace ? ' ' : '';
    if (flags.isZero && !flags.isMinus && flags.width !== undefined && flags.precision === undefined) {
      digits = digits.padStart(flags.width - sign.length, '0');
    }
    return pad(`${sign}${prefix}${digits}`, { ...flags, isZero: false });
  }

  #string(value: string, verb: string, flags: Flags): string {
    switch (verb) {
      case 'v':
        if (flags.isGoSyntax) return pad(quoteGo(value), flags);
        return pad(truncated(value, flags), flags);
      case 's':
        return pad(truncated(value, flags), flags);
      case 'q': {
        const text = truncated(value, flags);
        const isRaw = flags.isSharp && !/[`\p{Cc}\ufeff]/u.test(text.replaceAll('\t', ''));
        return pad(isRaw ? `\`${text}\`` : quoteGo(text, flags.isPlus), flags);
      }
      case 'x':
      case 'X': {
        let bytes = Buffer.from(value, 'utf8');
        if (flags.precision !== undefined) bytes = bytes.subarray(0, flags.precision);
        this.#budget.reserve(bytes.length * 2);
        const pairs = bytes.toString('hex').match(/../g) ?? [];
        const prefix = flags.isSharp && pairs.length > 0 ? '0x' : '';
        const text = flags.isSpace ? pairs.map((pair) => prefix + pair).join(' ') : prefix + pairs.join('');
        return pad(verb === 'X' ? text.toUpperCase() : text, flags);
      }
      default:
        return this.#bad(value, verb, flags);
    }
  }
}

/** Returns the digits for the `#` flag, including trailing zeros. */
function significant(text: string, digits: number): string {
  const [mantissa, exponent] = text.split(/(?=e)/i) as [string, string?];
  const count = mantissa.replace(/^[-+]?0?\.?0*|\./g, '').length || 1;
  const zeros = '0'.repeat(Math.max(0, digits - count));
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.`}${zeros}${exponent ?? ''}`;
}

/** Formats the bits of a float, for example `0x1.8p+00`. */
function hexFloat(value: number): string {
  if (!Number.isFinite(value)) return formatFloat(value, 'g', -1);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0x0p+00`;
  let exponent = Math.floor(Math.log2(Math.abs(value)));
  let mantissa = Math.abs(value) / 2 ** exponent;
  if (mantissa >= 2) [mantissa, exponent] = [mantissa / 2, exponent + 1];
  if (mantissa < 1) [mantissa, exponent] = [mantissa * 2, exponent - 1];
  return `${sign}0x${mantissa.toString(16)}p${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function truncated(text: string, { precision }: Flags): string {
  return precision === undefined ? text : [...text].slice(0, precision).join('');
}

function runeText(value: bigint): string {
  return value >= 0n && value <= 0x10ffffn && (value < 0xd800n || value > 0xdfffn)
    ? String.fromCodePoint(Number(value))
    : '\ufffd';
}
