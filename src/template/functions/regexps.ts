import { GoRegexp, RegexpBudgetExceeded, type StepBudget } from '../../machinery/index.ts';
import { FunctionError, LimitError } from '../errors.ts';
import { nilList, stringList } from '../values/index.ts';
import { type CallContext, define, type Library, type TemplateFunction, text, whole } from './function.ts';

/** Compiling a pattern is charged to each rendering. Longer patterns are not reasonable. */
const maxPattern = 10_000;

/** Matches in linear time, charged to the rendering. */
function matching<T>(pattern: string, context: CallContext, find: (regexp: GoRegexp, steps: StepBudget) => T): T {
  if (pattern.length > maxPattern) throw new LimitError(`a regular expression of more than ${maxPattern} characters`);
  context.budget.spend(1 + (pattern.length >> 3));
  let regexp: GoRegexp;
  try {
    regexp = new GoRegexp(pattern);
  } catch (error) {
    throw new FunctionError(error instanceof Error ? error.message : String(error));
  }
  try {
    return context.budget.matching((steps) => find(regexp, steps));
  } catch (error) {
    if (error instanceof RegexpBudgetExceeded) throw new LimitError(error.message);
    throw error;
  }
}

const limitOf = (count: number): number => (count < 0 ? Number.POSITIVE_INFINITY : count);

const findAll = define('string, string, int', ([pattern, s, count], context) =>
  matching(text(pattern), context, (regexp, steps) => {
    const found = [...regexp.findAll(text(s), limitOf(whole(count)), steps)].map((match) =>
      text(s).slice(match[0], match[1]),
    );
    context.budget.spend(found.length);
    return found.length === 0 ? nilList('string') : stringList(found);
  }),
);

const find = define('string, string', ([pattern, s], context) =>
  matching(text(pattern), context, (regexp, steps) => {
    const match = regexp.find(text(s), 0, steps);
    return match ? text(s).slice(match[0], match[1]) : '';
  }),
);

function replaceWith(isLiteral: boolean): TemplateFunction {
  return define('string, string, string', ([pattern, s, replacement], context) =>
    matching(text(pattern), context, (regexp, steps) => {
      const source = text(s);
      const names = isLiteral ? [] : groupNames(text(pattern));
      let result = '';
      let at = 0;
      for (const match of regexp.findAll(source, Number.POSITIVE_INFINITY, steps)) {
        const group = (index: number): string =>
          match[index * 2] === undefined || match[index * 2 + 1] === undefined
            ? ''
            : source.slice(match[index * 2], match[index * 2 + 1]);
        const by = isLiteral ? text(replacement) : expand(text(replacement), group, names);
        result += source.slice(at, match[0]) + by;
        context.budget.spend(1);
        context.budget.reserve(by.length);
        at = match[1] ?? at;
      }
      context.budget.reserve(result.length);
      return result + source.slice(at);
    }),
  );
}

/** Expands `$1`, `${1}` and `$name`: the longest name is used, and `$$` is a dollar. */
function expand(template: string, group: (index: number) => string, names: readonly (string | undefined)[]): string {
  return template.replace(
    /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu,
    (_all, dollar?: string, braced?: string, plain?: string) => {
      if (dollar !== undefined) return '$';
      const name = braced ?? plain ?? '';
      if (/^[0-9]+$/.test(name)) return group(Number(name));
      const index = names.indexOf(name);
      return index < 0 ? '' : group(index);
    },
  );
}

/** Returns the group names of a valid pattern by group number. */
function groupNames(pattern: string): (string | undefined)[] {
  const names: (string | undefined)[] = [undefined];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') {
      const end = pattern[at + 1] === 'Q' ? pattern.indexOf('\\E', at + 2) : at;
      at = end < 0 ? pattern.length : end + 1;
    } else if (pattern[at] === '[') at = endOfClass(pattern, at);
    else if (pattern[at] === '(') {
      const opening = /^\((?:\?P?<([^>]{1,1000})>|(\?))?/.exec(pattern.slice(at, at + 1_010));
      if (opening && opening[2] === undefined) names.push(opening[1]);
    }
  }
  return names;
}

/**
 * Returns the end of a character class that begins at `start`. A leading bracket, or one of a named class, belongs to
 * it.
 */
function endOfClass(pattern: string, start: number): number {
  let at = pattern[start + 1] === '^' ? start + 2 : start + 1;
  if (pattern[at] === ']') at++;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[') at += (/^\[:[a-z^]{1,20}:\]/.exec(pattern.slice(at, at + 30))?.[0].length ?? 1) - 1;
  }
  return at;
}

const split = define('string, string, int', ([pattern, s, count], context) =>
  matching(text(pattern), context, (regexp, steps) => {
    const source = text(s);
    const limit = whole(count);
    if (limit === 0) return nilList('string');
    if (text(pattern) !== '' && source === '') return stringList(['']);
    const parts: string[] = [];
    let [start, end] = [0, 0];
    for (const match of regexp.findAll(source, limitOf(limit), steps)) {
      if (limit > 0 && parts.length === limit - 1) break;
      const [first = 0, next = 0] = match;
      end = first;
      if (next !== 0) parts.push(source.slice(start, end));
      start = next;
    }
    if (end !== source.length) parts.push(source.slice(start));
    context.budget.spend(parts.length);
    return stringList(parts);
  }),
);

const test = (isStrict: boolean): TemplateFunction =>
  define('string, string', ([pattern, s], context) => {
    try {
      return matching(text(pattern), context, (regexp, steps) => regexp.test(text(s), steps));
    } catch (error) {
      if (error instanceof FunctionError && !isStrict) return false;
      throw error;
    }
  });

/** Without `must` Go panics on an invalid pattern, with another message. */
const panicking = (call: TemplateFunction): TemplateFunction => ({
  ...call,
  call: (args, context) => {
    try {
      return call.call(args, context);
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      throw new FunctionError(`regexp: Compile(${quotePattern(text(args[0]))}): ${error.message}`);
    }
  },
});

const quotePattern = (pattern: string): string =>
  /[`\p{Cc}]/u.test(pattern) ? JSON.stringify(pattern) : `\`${pattern}\``;

/** Sprig's functions of regular expressions. */
export const regexpFunctions: Library = {
  regexMatch: test(false),
  mustRegexMatch: test(true),
  regexFind: panicking(find),
  mustRegexFind: find,
  regexFindAll: panicking(findAll),
  mustRegexFindAll: findAll,
  regexReplaceAll: panicking(replaceWith(false)),
  mustRegexReplaceAll: replaceWith(false),
  regexReplaceAllLiteral: panicking(replaceWith(true)),
  mustRegexReplaceAllLiteral: replaceWith(true),
  regexSplit: panicking(split),
  mustRegexSplit: split,
  regexQuoteMeta: define('string', ([s]) => text(s).replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
