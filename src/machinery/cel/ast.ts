import type { CelValue } from './values.ts';

/** A parsed expression. `at` is its offset in the source. */
export type Expression = { readonly at: number } & (
  | { kind: 'literal'; value: CelValue }
  | { kind: 'identifier'; name: string }
  /** `test` marks has(…), `optional` marks `.?` */
  | { kind: 'select'; operand: Expression; field: string; test: boolean; optional: boolean }
  | { kind: 'index'; operand: Expression; index: Expression; optional: boolean }
  | { kind: 'call'; name: string; target: Expression | undefined; args: Expression[] }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'conditional'; condition: Expression; then: Expression; otherwise: Expression }
  | { kind: 'list'; items: ListItem[] }
  | { kind: 'map'; entries: MapEntry[] }
  | { kind: 'comprehension'; form: ComprehensionForm; range: Expression; variables: string[]; steps: Expression[] }
  | { kind: 'optional-map'; target: Expression; variable: string; body: Expression; flat: boolean }
);

export interface ListItem {
  value: Expression;
  optional: boolean;
}

export interface MapEntry {
  key: Expression;
  value: Expression;
  optional: boolean;
}

/** `steps` are [filter, transform] for forms that build a value, [predicate] for the others */
export type ComprehensionForm =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'filter'
  | 'map'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry';

/** Visits an expression and all its subexpressions. */
export function forEachExpression(expression: Expression, visit: (expression: Expression) => void): void {
  visit(expression);
  for (const child of childrenOf(expression)) forEachExpression(child, visit);
}

function childrenOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
      return [];
    case 'select':
      return [expression.operand];
    case 'index':
      return [expression.operand, expression.index];
    case 'call':
      return expression.target ? [expression.target, ...expression.args] : expression.args;
    case 'and':
    case 'or':
      return [expression.left, expression.right];
    case 'conditional':
      return [expression.condition, expression.then, expression.otherwise];
    case 'list':
      return expression.items.map((item) => item.value);
    case 'map':
      return expression.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'comprehension':
      return [expression.range, ...expression.steps];
    case 'optional-map':
      return [expression.target, expression.body];
  }
}
