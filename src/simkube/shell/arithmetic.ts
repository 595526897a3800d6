import { must } from '../../machinery/index.ts';

const lexeme =
  /\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%]=|[-+*/%()<>!=?:~&|^]))/y;

const maxDepth = 100;

/** An invalid expression, in a shell's words. */
export class ArithmeticError extends Error {}

/** Evaluates integer arithmetic as shells do. Throws ArithmeticError. */
export function evaluate(text: string, variables: Map<string, string>): number {
  const words: string[] = [];
  lexeme.lastIndex = 0;
  let end = 0;
  for (let match = lexeme.exec(text); match; match = lexeme.exec(text)) {
    words.push(match[0].trim());
    end = lexeme.lastIndex;
  }
  if (text.slice(end).trim() !== '') throw new ArithmeticError(`arithmetic syntax error: "${text.trim()}"`);
  if (words.length === 0) return 0;
  let at = 0;
  const numberIn = (name: string): number => Math.trunc(Number(variables.get(name) ?? 0)) || 0;
  const levels: readonly (readonly string[])[] = [
    ['||'],
    ['&&'],
    ['|'],
    ['^'],
    ['&'],
    ['==', '!='],
    ['<', '>', '<=', '>='],
    ['<<', '>>'],
    ['+', '-'],
    ['*', '/', '%'],
  ];
  let depth = 0;
  /** Limits the nesting of expressions. */
  const inner = (work: () => number): number => {
    if (++depth > maxDepth) throw new ArithmeticError('expression recursion level exceeded');
    const value = work();
    depth--;
    return value;
  };
  const primary = (): number => {
    const word = words[at++];
    if (word === undefined) throw new ArithmeticError('arithmetic expression: expecting primary');
    if (word === '(') {
      const value = inner(assignment);
      if (words[at++] !== ')') throw new ArithmeticError('arithmetic expression: expecting ")"');
      return value;
    }
    if (word === '-') return -inner(primary);
    if (word === '+') return inner(primary);
    if (word === '!') return inner(primary) === 0 ? 1 : 0;
    if (word === '~') return ~inner(primary);
    if (word === '++' || word === '--') {
      const name = must(words[at++], 'words[at++]');
      const value = numberIn(name) + (word === '++' ? 1 : -1);
      variables.set(name, String(value));
      return value;
    }
    if (/^\d/.test(word)) return Number(/^0\d/.test(word) ? `0o${word.slice(1)}` : word);
    const value = numberIn(word);
    const next = words[at];
    if (next === '++' || next === '--') {
      at++;
      variables.set(word, String(value + (next === '++' ? 1 : -1)));
    }
    return value;
  };
  const binary = (level: number): number => {
    const operators = levels[level];
    if (!operators) return primary();
    let left = binary(level + 1);
    for (let operator = words[at]; operator !== undefined && operators.includes(operator); operator = words[at]) {
      at++;
      left = apply(operator, left, binary(level + 1));
    }
    return left;
  };
  const conditional = (): number => {
    const test = binary(0);
    if (words[at] !== '?') return test;
    at++;
    const yes = inner(assignment);
    if (words[at++] !== ':') throw new ArithmeticError('arithmetic expression: expecting ":"');
    const no = inner(assignment);
    return test !== 0 ? yes : no;
  };
  function assignment(): number {
    const name = words[at];
    const operator = words[at + 1];
    if (name === undefined || operator === undefined || !/^[A-Za-z_]/.test(name) || !/^[-+*/%]?=$/.test(operator)) {
      return conditional();
    }
    at += 2;
    const right = inner(assignment);
    const value = operator === '=' ? right : apply(operator.charAt(0), numberIn(name), right);
    variables.set(name, String(value));
    return value;
  }
  const result = assignment();
  if (at < words.length) throw new ArithmeticError(`arithmetic syntax error: "${text.trim()}"`);
  return result;
}

function apply(operator: string, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
    case '%':
      if (right === 0) throw new ArithmeticError('division by zero');
      return operator === '/' ? Math.trunc(left / right) : left % right;
    case '<<':
      return left << right;
    case '>>':
      return left >> right;
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '&&':
      return left !== 0 && right !== 0 ? 1 : 0;
    case '||':
      return left !== 0 || right !== 0 ? 1 : 0;
    case '==':
      return left === right ? 1 : 0;
    case '!=':
      return left !== right ? 1 : 0;
    case '<':
      return left < right ? 1 : 0;
    case '>':
      return left > right ? 1 : 0;
    case '<=':
      return left <= right ? 1 : 0;
    default:
      return left >= right ? 1 : 0;
  }
}
