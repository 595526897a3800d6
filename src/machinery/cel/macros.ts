import type { ComprehensionForm, Expression } from './ast.ts';

type Call = Expression & { kind: 'call' };
type MakeError = (at: number, problem: string) => Error;

/** Expands a macro call. Returns undefined for an ordinary call. */
export function expandMacro(call: Call, makeError: MakeError): Expression | undefined {
  const { at, name, target, args } = call;
  const [operand, body] = args;
  if (!target) {
    if (name !== 'has' || args.length !== 1 || !operand) return undefined;
    if (operand.kind !== 'select' || operand.test) throw makeError(operand.at, 'invalid argument to has() macro');
    return { ...operand, test: true };
  }
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2 && operand && body) {
    const variable = variableName(operand, makeError);
    return { kind: 'optional-map', at, target, variable, body, flat: name === 'optFlatMap' };
  }
  return expandComprehension(call, target, makeError);
}

/** form, number of variables, allowed numbers of further arguments */
const comprehensions: Record<string, readonly [ComprehensionForm, number, readonly number[]][]> = {
  all: [
    ['all', 1, [1]],
    ['all', 2, [1]],
  ],
  exists: [
    ['exists', 1, [1]],
    ['exists', 2, [1]],
  ],
  exists_one: [['existsOne', 1, [1]]],
  existsOne: [
    ['existsOne', 1, [1]],
    ['existsOne', 2, [1]],
  ],
  filter: [['filter', 1, [1]]],
  map: [['map', 1, [1, 2]]],
  transformList: [['transformList', 2, [1, 2]]],
  transformMap: [['transformMap', 2, [1, 2]]],
  transformMapEntry: [['transformMapEntry', 2, [1, 2]]],
};

function expandComprehension(call: Call, range: Expression, makeError: MakeError): Expression | undefined {
  const forms = Object.hasOwn(comprehensions, call.name) ? comprehensions[call.name] : undefined;
  for (const [form, count, further] of forms ?? []) {
    const steps = call.args.slice(count);
    if (!further.includes(steps.length)) continue;
    const variables = call.args.slice(0, count).map((argument) => variableName(argument, makeError));
    return { kind: 'comprehension', at: call.at, form, range, variables, steps };
  }
  return undefined;
}

function variableName(expression: Expression, makeError: MakeError): string {
  if (expression.kind === 'identifier') return expression.name;
  throw makeError(expression.at, 'argument must be a simple name');
}
