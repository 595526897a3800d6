import { failed, type Result, succeeded, TemplateError } from '../errors.ts';
import { byteLength, byteSlice } from '../functions/bytes.ts';
import { compareStrings } from '../values/index.ts';
import { fittingPrefixes } from './glob-prefix.ts';
import { type Part, parseVariables, type Substitution, SubstitutionError } from './parse.ts';

/** Returns a variable's value; undefined if it is not set. */
export type VariableLookup = (name: string) => string | undefined;

/** Maximum length of the output in characters. */
const maxOutput = 16 * 1024 * 1024;

/** Blanks inside of braces are deprecated but supported. */
const legacy = /\$\{(?:\s+[A-Za-z0-9_$]+\s*|[A-Za-z0-9_$]+\s+)\}/g;
const modern = (text: string): string => text.replace(legacy, (found) => found.replace(/\s/g, ''));

function read(text: string): Result<Part[]> {
  try {
    return succeeded(parseVariables(text));
  } catch (error) {
    if (error instanceof SubstitutionError) return failed(new TemplateError(error.message));
    throw error;
  }
}

/**
 * Lists the variables of a text with their defaults. As in clusterctl, the first use of a variable counts, variables
 * inside of a default are not listed, and a default that refers to a variable shows as `${NAME}`.
 */
export function listVariables(text: string): Result<Map<string, string | undefined>> {
  const parts = read(modern(text));
  if (!parts.ok) return parts;
  const found = new Map<string, string | undefined>();
  for (const part of parts.value) {
    if (typeof part === 'string' || found.has(part.variable)) continue;
    const given = part.args.map((arg) => (typeof arg === 'string' ? arg : `\${${arg.variable}}`)).join('');
    found.set(part.variable, given === '' ? undefined : given);
  }
  return succeeded(new Map([...found].sort(([a], [b]) => compareStrings(a, b))));
}

/** Substitutes the variables of a text. Fails if one has neither value nor default. */
export function substituteVariables(text: string, lookup: VariableLookup): Result<string> {
  const variables = listVariables(text);
  if (!variables.ok) return variables;
  const missing = [...variables.value]
    .filter(([name, fallback]) => fallback === undefined && lookup(name) === undefined)
    .map(([name]) => name);
  if (missing.length > 0) {
    const names = missing.join(', ');
    return failed(
      new TemplateError(
        `value for variables [${names}] is not set. Please set the value using os environment variables or the clusterctl config file`,
      ),
    );
  }
  return replaceVariables(modern(text), lookup);
}

/** Substitutes variables, with empty text for those that are not set. Refuses blanks in braces. */
export function replaceVariables(text: string, lookup: VariableLookup): Result<string> {
  const parts = read(text);
  if (!parts.ok) return parts;
  let result = '';
  for (const part of parts.value) {
    result += evaluate(part, lookup);
    if (result.length > maxOutput) {
      return failed(new TemplateError(`more than ${maxOutput} characters of output`, { isLimit: true }));
    }
  }
  return succeeded(result);
}

function evaluate(part: Part, lookup: VariableLookup): string {
  if (typeof part === 'string') return part;
  const args = part.args.map((arg) => evaluate(arg, lookup));
  return apply(part, lookup(part.variable) ?? '', args);
}

function apply({ operation }: Substitution, value: string, args: readonly string[]): string {
  const [first = '', second] = args;
  const runes = [...value];
  switch (operation) {
    case ',':
      return (runes[0]?.toLowerCase() ?? '') + runes.slice(1).join('');
    case ',,':
      return value.toLowerCase();
    case '^':
      return (runes[0]?.toUpperCase() ?? '') + runes.slice(1).join('');
    case '^^':
      return value.toUpperCase();
    case '#':
      return args.length === 0 ? String(byteLength(value)) : withoutPrefix(runes, [...first], 'shortest');
    case '##':
      return withoutPrefix(runes, [...first], 'longest');
    case '%':
      return reversed(withoutPrefix(runes.reverse(), [...first].reverse(), 'shortest'));
    case '%%':
      return reversed(withoutPrefix(runes.reverse(), [...first].reverse(), 'longest'));
    case ':':
      return substring(value, first, second);
    case '/#':
      return second !== undefined && value.startsWith(first) ? second + value.slice(first.length) : value;
    case '/%':
      if (second === undefined || !value.endsWith(first)) return value;
      return value.slice(0, value.length - first.length) + second;
    case '/':
      return value.includes(first) ? value.replace(first, () => second ?? '') : value;
    case '//':
      return value.replaceAll(first, () => second ?? '');
    default:
      return value === '' ? args.join('') : value;
  }
}

const reversed = (text: string): string => [...text].reverse().join('');

function withoutPrefix(runes: readonly string[], pattern: readonly string[], which: 'shortest' | 'longest'): string {
  const prefixes = fittingPrefixes(pattern, runes);
  const length = (which === 'shortest' ? prefixes[0] : prefixes.at(-1)) ?? 0;
  return runes.slice(length).join('');
}

const integer = /^[+-]?[0-9]{1,15}$/;

/** Positions count bytes. An invalid number leaves the value unchanged. */
function substring(value: string, from: string, count: string | undefined): string {
  if (!integer.test(from) || (count !== undefined && !integer.test(count))) return value;
  const size = byteLength(value);
  const start = Number(from) < 0 ? Math.max(0, size + Number(from)) : Number(from);
  if (start >= size) return '';
  const end = count === undefined ? size : start + Number(count);
  return end < start ? '' : byteSlice(value, start, Math.min(end, size));
}
