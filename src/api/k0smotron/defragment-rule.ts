// The rule of an etcd defragmentation job: an expression over numbers, such as `dbQuotaUsage > 0.8 || dbSize -
// dbSizeInUse > 200*1024*1024`.

/** Variables of a rule; sizes in bytes. */
export interface DefragmentFacts {
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly dbSizeFree: number;
  /** maximum size of the database file */
  readonly dbQuota: number;
  /** fraction from 0 to 1 */
  readonly dbQuotaUsage: number;
}

export type DefragmentRule = (facts: DefragmentFacts) => boolean;

const names: readonly (keyof DefragmentFacts)[] = ['dbSize', 'dbSizeInUse', 'dbSizeFree', 'dbQuota', 'dbQuotaUsage'];

type Value = number | boolean;

interface Expression {
  readonly type: 'number' | 'boolean';
  evaluate(facts: DefragmentFacts): Value;
}

class RuleProblem extends Error {}

/** Parses a rule; an empty rule is always true. Returns the problem of an invalid rule. */
export function parseDefragmentRule(text: string): DefragmentRule | { readonly problem: string } {
  if (text.trim() === '') return () => true;
  try {
    const tokens = tokensOf(text);
    const whole = readBinary(tokens, 0);
    const [rest] = tokens;
    if (rest !== undefined) throw new RuleProblem(`does not continue with ${JSON.stringify(rest)}`);
    if (whole.type !== 'boolean') throw new RuleProblem('is a number; compare it with something');
    return (facts) => whole.evaluate(facts) === true;
  } catch (error) {
    if (error instanceof RuleProblem) return { problem: error.message };
    throw error;
  }
}

const tokenPattern =
  /\s*(?:(0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\|\||&&|[<>=!]=|\*\*|[<>!()+\-*/%]))/y;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < end) {
    const from = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (!match) throw new RuleProblem(`cannot be read at ${JSON.stringify(text.slice(from).trim())}`);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  return tokens;
}

interface Operator {
  readonly takes: 'number' | 'boolean' | 'alike';
  readonly gives: 'number' | 'boolean';
  apply(a: Value, b: Value): Value;
}

const numeric = (gives: Operator['gives'], apply: (a: number, b: number) => Value): Operator => ({
  takes: 'number',
  gives,
  apply: (a, b) => apply(Number(a), Number(b)),
});
const alike = (apply: Operator['apply']): Operator => ({ takes: 'alike', gives: 'boolean', apply });
const logical = (apply: (a: Value, b: Value) => Value): Operator => ({ takes: 'boolean', gives: 'boolean', apply });

/** Operators by precedence, lowest first. */
const levels: readonly ReadonlyMap<string, Operator>[] = [
  new Map([['||', logical((a, b) => a || b)]]),
  new Map([['&&', logical((a, b) => a && b)]]),
  new Map([
    ['==', alike((a, b) => a === b)],
    ['!=', alike((a, b) => a !== b)],
    ['<', numeric('boolean', (a, b) => a < b)],
    ['<=', numeric('boolean', (a, b) => a <= b)],
    ['>', numeric('boolean', (a, b) => a > b)],
    ['>=', numeric('boolean', (a, b) => a >= b)],
  ]),
  new Map([
    ['+', numeric('number', (a, b) => a + b)],
    ['-', numeric('number', (a, b) => a - b)],
  ]),
  new Map([
    ['*', numeric('number', (a, b) => a * b)],
    ['/', numeric('number', (a, b) => a / b)],
    ['%', numeric('number', (a, b) => a % b)],
  ]),
  new Map([['**', numeric('number', (a, b) => a ** b)]]),
];

function readBinary(tokens: string[], level: number): Expression {
  const operators = levels[level];
  if (!operators) return readUnary(tokens);
  let left = readBinary(tokens, level + 1);
  for (;;) {
    const [sign = ''] = tokens;
    const operator = operators.get(sign);
    if (!operator) return left;
    tokens.shift();
    left = combine(sign, operator, left, readBinary(tokens, level + 1));
  }
}

function combine(sign: string, { takes, gives, apply }: Operator, left: Expression, right: Expression): Expression {
  const fits = takes === 'alike' ? left.type === right.type : left.type === takes && right.type === takes;
  if (!fits) throw new RuleProblem(`has a ${left.type} and a ${right.type} beside ${sign}`);
  return { type: gives, evaluate: (facts) => apply(left.evaluate(facts), right.evaluate(facts)) };
}

function readUnary(tokens: string[]): Expression {
  const token = tokens.shift();
  if (token === undefined) throw new RuleProblem('ends where a value is expected');
  if (token === '(') {
    const inner = readBinary(tokens, 0);
    if (tokens.shift() !== ')') throw new RuleProblem('has a parenthesis that is not closed');
    return inner;
  }
  if (token === '-' || token === '!') {
    const type = token === '-' ? 'number' : 'boolean';
    const operand = readUnary(tokens);
    if (operand.type !== type) throw new RuleProblem(`has a ${operand.type} after ${token}`);
    return { type, evaluate: (facts) => (token === '-' ? -Number(operand.evaluate(facts)) : !operand.evaluate(facts)) };
  }
  if (token === 'true' || token === 'false') return { type: 'boolean', evaluate: () => token === 'true' };
  if (/^[\d.]/.test(token)) {
    const value = Number(token);
    return { type: 'number', evaluate: () => value };
  }
  const name = names.find((known) => known === token);
  if (name) return { type: 'number', evaluate: (facts) => facts[name] };
  const problem = /^\w/.test(token)
    ? `refers to ${token}, which is none of ${names.join(', ')}`
    : `has ${token} where a value is expected`;
  throw new RuleProblem(problem);
}
