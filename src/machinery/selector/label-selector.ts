import { type FieldError, fieldError, formatFieldError } from '../errors/field-error.ts';
import { must } from '../errors/must.ts';
import { statusError } from '../errors/status.ts';
import { aggregateText } from '../text/aggregate.ts';
import { checkLabelValue, checkQualifiedName } from '../validation/names.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** empty for `exists` and `!`, one value for other operators except `in` and `notin` */
  readonly values: readonly string[];
}

/** A compiled label selector: parse once, match many times. */
export interface LabelSelectorMatcher {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
  /** true if it has no requirements */
  readonly empty: boolean;
  /** ordered by key; all must hold */
  readonly requirements: readonly LabelRequirement[];
  /** the selector in the syntax of kubectl and `status.selector` */
  toString(): string;
}

interface CompiledRequirement extends LabelRequirement {
  /** the value of a requirement with exactly one, so that the common case compares two strings */
  readonly single: string | undefined;
  readonly bound: bigint;
}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt';
const integer = /^[+-]?[0-9]+$/;
const noLabels: Readonly<Record<string, string>> = {};

/** Parses like Go's ParseInt(text, 10, 64). */
function parseInt64(text: string): bigint | undefined {
  if (!integer.test(text)) return undefined;
  const value = BigInt(text[0] === '+' ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function requirementMatches(requirement: CompiledRequirement, labels: Readonly<Record<string, string>>): boolean {
  const found: unknown = labels[requirement.key];
  // A key such as `constructor` finds an inherited member. Only strings are labels.
  if (typeof found !== 'string') return requirement.operator[0] === '!' || requirement.operator === 'notin';
  switch (requirement.operator) {
    case 'exists':
      return true;
    case '!':
      return false;
    case '=':
    case '==':
    case 'in':
      return requirement.single === undefined ? requirement.values.includes(found) : requirement.single === found;
    case '!=':
    case 'notin':
      return requirement.single === undefined ? !requirement.values.includes(found) : requirement.single !== found;
    case '>':
    case '<': {
      const value = parseInt64(found);
      if (value === undefined) return false;
      return requirement.operator === '>' ? value > requirement.bound : value < requirement.bound;
    }
  }
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort().join(',')})`;
    default:
      return `${key}${operator}${values[0] ?? ''}`;
  }
}

class RequirementsMatcher implements LabelSelectorMatcher {
  readonly requirements: readonly LabelRequirement[];
  readonly #compiled: readonly CompiledRequirement[];

  constructor(requirements: readonly LabelRequirement[]) {
    this.requirements = requirements;
    this.#compiled = requirements.map((requirement) => ({
      ...requirement,
      single: requirement.values.length === 1 ? requirement.values[0] : undefined,
      bound: parseInt64(requirement.values[0] ?? '') ?? 0n,
    }));
  }

  get empty(): boolean {
    return this.#compiled.length === 0;
  }

  matches(labels: Readonly<Record<string, string>> | undefined): boolean {
    const present = labels ?? noLabels;
    for (const requirement of this.#compiled) if (!requirementMatches(requirement, present)) return false;
    return true;
  }

  toString(): string {
    return this.requirements.map(formatRequirement).join(',');
  }
}

export const everythingSelector: LabelSelectorMatcher = new RequirementsMatcher([]);

/** Matches no object: the meaning of an absent LabelSelector field. */
export const nothingSelector: LabelSelectorMatcher = {
  matches: () => false,
  empty: false,
  requirements: [],
  toString: () => '',
};

/** Compiles requirements that are known to be valid. */
export function labelSelectorFromRequirements(requirements: readonly LabelRequirement[]): LabelSelectorMatcher {
  if (requirements.length === 0) return everythingSelector;
  return new RequirementsMatcher([...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

/** Formats errors as Go's error aggregates do. */
function aggregate(errors: readonly FieldError[]): string {
  return aggregateText([...new Set(errors.map(formatFieldError))]);
}

/** A syntax error, which the parser's entry point converts to a 400. */
class SelectorSyntaxError extends Error {}

type TokenType = 'end' | 'identifier' | 'in' | 'notin' | '(' | ')' | ',' | '!' | '==' | '=' | '>' | '<' | '!=';

interface Token {
  type: TokenType;
  text: string;
}

const specials = '=!(),><';
const blanks = ' \t\r\n';
const wordEnds = `${specials}${blanks}\0`;

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && blanks.includes(text.charAt(at))) at++;
    // A NUL byte ends the text, as in upstream's scanner.
    if (at >= text.length || text[at] === '\0') break;
    if (specials.includes(text.charAt(at))) {
      const pair = text.slice(at, at + 2);
      const symbol = pair === '==' || pair === '!=' ? pair : text.charAt(at);
      tokens.push({ type: symbol as TokenType, text: symbol });
      at += symbol.length;
      continue;
    }
    const start = at;
    while (at < text.length && !wordEnds.includes(text.charAt(at))) at++;
    const word = text.slice(start, at);
    tokens.push({ type: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
  }
  tokens.push({ type: 'end', text: '' });
  return tokens;
}

/** Recursive descent parser. `in` and `notin` are operators only where an operator may occur. */
class LabelSelectorParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  #at(position: number): Token {
    const token = must(this.#tokens[Math.min(position, this.#tokens.length - 1)], 'token');
    return token.type === 'in' || token.type === 'notin' ? { type: 'identifier', text: token.text } : token;
  }

  #peek(): Token {
    return this.#at(this.#position);
  }

  #take(): Token {
    return this.#at(this.#position++);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const first = this.#peek();
      if (first.type === 'end') return requirements;
      if (first.type !== 'identifier' && first.type !== '!') {
        throw new SelectorSyntaxError(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      }
      try {
        requirements.push(this.#requirement());
      } catch (error) {
        if (!(error instanceof SelectorSyntaxError)) throw error;
        throw new SelectorSyntaxError(`unable to parse requirement: ${error.message}`);
      }
      const separator = this.#take();
      if (separator.type === 'end') return requirements;
      if (separator.type !== ',') {
        throw new SelectorSyntaxError(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      const next = this.#peek();
      if (next.type !== 'identifier' && next.type !== '!') {
        throw new SelectorSyntaxError(`found '${next.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    let token = this.#take();
    const negated = token.type === '!';
    if (negated) token = this.#take();
    if (token.type !== 'identifier') throw new SelectorSyntaxError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const problems = checkQualifiedName(key);
    if (problems.length > 0) {
      throw new SelectorSyntaxError(formatFieldError(fieldError.invalid('', key, problems.join('; '))));
    }
    if (negated) return { key, operator: '!', values: [] };
    const next = this.#peek().type;
    if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] };
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    return checkValues({ key, operator, values });
  }

  #operator(): LabelOperator {
    const token = must(this.#tokens[Math.min(this.#position++, this.#tokens.length - 1)], 'token');
    switch (token.type) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return token.type;
      default:
        throw new SelectorSyntaxError(`found '${token.text}', expected: ${binaryOperators}`);
    }
  }

  #value(): string {
    const next = this.#peek();
    if (next.type === 'end' || next.type === ',') return '';
    this.#position++;
    if (next.type !== 'identifier') throw new SelectorSyntaxError(`found '${next.text}', expected: identifier`);
    return next.text;
  }

  #values(): string[] {
    const open = this.#take();
    if (open.type !== '(') throw new SelectorSyntaxError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.type === ')') {
      this.#position++;
      return [''];
    }
    if (first.type !== 'identifier' && first.type !== ',') {
      throw new SelectorSyntaxError(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token.type === 'identifier') {
        values.add(token.text);
        const next = this.#peek();
        if (next.type === ')') break;
        if (next.type !== ',') throw new SelectorSyntaxError(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.type === ',') {
        // Nothing between two commas is the empty value.
        if (values.size === 0) values.add('');
        const next = this.#peek();
        if (next.type === ')') {
          values.add('');
          break;
        }
        if (next.type === ',') {
          this.#position++;
          values.add('');
        }
      } else {
        throw new SelectorSyntaxError(`found '${token.text}', expected: ',', or identifier`);
      }
    }
    this.#position++;
    return [...values].sort();
  }
}

function checkValues(requirement: LabelRequirement): LabelRequirement {
  const errors: FieldError[] = [];
  if (requirement.operator === '>' || requirement.operator === '<') {
    const value = must(requirement.values[0], 'the first of requirement.values');
    if (parseInt64(value) === undefined) {
      errors.push(fieldError.invalid('values[0]', value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  requirement.values.forEach((value, index) => {
    const problems = checkLabelValue(value);
    if (problems.length > 0) {
      errors.push(fieldError.invalid(`values[${index}][${requirement.key}]`, value, problems.join('; ')));
    }
  });
  if (errors.length > 0) throw new SelectorSyntaxError(aggregate(errors));
  return requirement;
}

/**
 * Parses the text form (`a=b,c in (d,e),!f,g>3`) of `kubectl -l` and `?labelSelector=`. Throws ApiStatusError (400
 * BadRequest) with kube-apiserver's wording.
 */
export function parseLabelSelector(text: string): LabelSelectorMatcher {
  try {
    return labelSelectorFromRequirements(new LabelSelectorParser(text).parse());
  } catch (error) {
    if (error instanceof SelectorSyntaxError) throw statusError.badRequest(error.message);
    throw error;
  }
}
