import { Int, typeOf, type Value } from '../values/index.ts';
import { noFlags } from './flags.ts';
import { type PrintBudget, Printer, printValue } from './print.ts';

/** Go has the same limit. */
const maxWidth = 1_000_000;

/** Implements Go's fmt.Sprint: spaces between operands if neither is a string. */
export function sprint(values: readonly Value[], budget: PrintBudget): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    if (index > 0 && typeof value !== 'string' && typeof values[index - 1] !== 'string') text += ' ';
    text += printValue(value, budget);
    budget.reserve(text.length);
  }
  return text;
}

export function sprintln(values: readonly Value[], budget: PrintBudget): string {
  return `${values.map((value) => printValue(value, budget)).join(' ')}\n`;
}

/** Implements Go's fmt.Sprintf, including its output for wrong arguments. */
export function sprintf(format: string, args: readonly Value[], budget: PrintBudget): string {
  const printer = new Printer(budget);
  const runes = format;
  let result = '';
  let next = 0;
  let isReordered = false;

  for (let at = 0; at < runes.length; ) {
    const percent = runes.indexOf('%', at);
    if (percent < 0) {
      result += runes.slice(at);
      break;
    }
    result += runes.slice(at, percent);
    at = percent + 1;
    const flags = noFlags();
    for (; at < runes.length; at++) {
      const char = runes[at];
      if (char === '#') flags.isSharp = true;
      else if (char === '0') flags.isZero = true;
      else if (char === '+') flags.isPlus = true;
      else if (char === '-') flags.isMinus = true;
      else if (char === ' ') flags.isSpace = true;
      else break;
    }
    let isGoodIndex = true;
    const index = (): boolean => {
      if (runes[at] !== '[') return false;
      isReordered = true;
      const found = /\[([0-9]+)\]/y;
      found.lastIndex = at;
      const match = found.exec(runes);
      const close = runes.indexOf(']', at);
      at = match ? found.lastIndex : close < 0 ? at + 1 : close + 1;
      const wanted = match ? Number(match[1]) - 1 : -1;
      if (wanted < 0 || wanted >= args.length) isGoodIndex = false;
      else next = wanted;
      return true;
    };
    const star = (): number | undefined => {
      const value = args[next];
      next++;
      return value instanceof Int && value.value >= -BigInt(maxWidth) && value.value <= BigInt(maxWidth)
        ? Number(value.value)
        : undefined;
    };
    const digits = (): number | undefined => {
      const found = /[0-9]+/y;
      found.lastIndex = at;
      const match = found.exec(runes);
      if (!match) return undefined;
      at = found.lastIndex;
      const value = Number(match[0]);
      return value > maxWidth ? undefined : value;
    };

    let hasIndex = index();
    if (runes[at] === '*') {
      at++;
      const width = star();
      if (width === undefined) result += '%!(BADWIDTH)';
      else {
        flags.width = Math.abs(width);
        if (width < 0) flags.isMinus = true;
      }
      hasIndex = false;
    } else {
      flags.width = digits();
      if (hasIndex && flags.width !== undefined) isGoodIndex = false;
    }
    if (runes[at] === '.') {
      at++;
      if (hasIndex) isGoodIndex = false;
      hasIndex = index();
      if (runes[at] === '*') {
        at++;
        const precision = star();
        if (precision === undefined) result += '%!(BADPREC)';
        else if (precision >= 0) flags.precision = precision;
        hasIndex = false;
      } else flags.precision = digits() ?? 0;
    }
    if (!hasIndex) hasIndex = index();
    if (flags.width !== undefined) budget.reserve(result.length + flags.width);
    if (flags.precision !== undefined) budget.reserve(result.length + flags.precision);
    if (at >= runes.length) {
      result += '%!(NOVERB)';
      break;
    }
    const verb = String.fromCodePoint(runes.codePointAt(at) ?? 0);
    at += verb.length;
    if (verb === '%') result += '%';
    else if (!isGoodIndex) result += `%!${verb}(BADINDEX)`;
    else if (next >= args.length) result += `%!${verb}(MISSING)`;
    else {
      if (verb === 'v') {
        // For `%v`, both flags change only the output of structs, not of numbers.
        flags.isGoSyntax = flags.isSharp;
        flags.isSharp = false;
        flags.isPlus = false;
      }
      result += printer.value(args[next], verb, flags, 0);
      next++;
    }
    budget.reserve(result.length);
  }
  if (!isReordered && next < args.length) {
    const extra = args.slice(next).map((value) => {
      if (value === undefined || value === null) return '<nil>';
      return `${typeOf(value)}=${printValue(value, budget)}`;
    });
    result += `%!(EXTRA ${extra.join(', ')})`;
  }
  budget.reserve(result.length);
  return result;
}
