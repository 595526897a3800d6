import type { JsonValue } from '../json/value.ts';
import { resolveFieldPath } from '../schema/field-path.ts';
import type { Schema, ValidationRule } from '../schema/types.ts';
import { type Expression, forEachExpression } from './ast.ts';
import { checkExpression } from './check.ts';
import { compileExpression, type Evaluator } from './evaluate.ts';
import { parseExpression } from './parser.ts';
import { staticTypeOf } from './schema-values.ts';
import { boolType, matchType, type StaticType, stringType } from './static-type.ts';

/** A compiled rule of x-kubernetes-validations. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly evaluate: Evaluator | undefined;
  readonly message: Evaluator | undefined;
  readonly usesOldSelf: boolean;
  /** fieldPath as used in field errors, empty when not set */
  readonly fieldPath: string;
  /** compile error of the rule */
  readonly problem: string | undefined;
  readonly messageProblem: string | undefined;
}

const scope = ['self', 'oldSelf'];

/** Compiles a rule against the schema that contains it. Errors are part of the result. */
export function compileRule(rule: ValidationRule, schema: Schema, isResource: boolean): CompiledRule {
  const self = staticTypeOf(schema, isResource);
  const oldSelf: StaticType = rule.optionalOldSelf ? { kind: 'optional', of: self } : self;
  const condition = compile(rule.rule, {
    self,
    oldSelf,
    wanted: boolType,
    otherwise: 'cel expression must evaluate to a bool',
  });
  const message =
    rule.messageExpression === undefined || rule.messageExpression.trim() === ''
      ? undefined
      : compile(rule.messageExpression, {
          self,
          oldSelf: self,
          wanted: stringType,
          otherwise: 'messageExpression must evaluate to a string',
        });
  const path = rule.fieldPath ? resolveFieldPath(rule.fieldPath, schema, { allowBrackets: true }) : undefined;
  return {
    rule,
    evaluate: condition.evaluate,
    message: message?.evaluate,
    usesOldSelf: condition.usesOldSelf,
    fieldPath: typeof path === 'object' ? path.path : '',
    problem: condition.problem,
    messageProblem: message?.problem?.replace(/^compilation failed/, 'messageExpression compilation failed'),
  };
}

interface Compilation {
  evaluate: Evaluator | undefined;
  usesOldSelf: boolean;
  problem: string | undefined;
}

interface Expectation {
  readonly self: StaticType;
  readonly oldSelf: StaticType;
  readonly wanted: StaticType;
  readonly otherwise: string;
}

function compile(source: string, { self, oldSelf, wanted, otherwise }: Expectation): Compilation {
  try {
    const expression = parseExpression(source);
    const types = new Map([
      ['self', self],
      ['oldSelf', oldSelf],
    ]);
    const type = checkExpression(expression, types, source);
    const usesOldSelf = mentions(expression, 'oldSelf');
    if (!matchType(wanted, type, new Map())) return { evaluate: undefined, usesOldSelf, problem: otherwise };
    return { evaluate: compileExpression(expression, scope), usesOldSelf, problem: undefined };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { evaluate: undefined, usesOldSelf: false, problem: `compilation failed: ${text}` };
  }
}

function mentions(expression: Expression, name: string): boolean {
  let found = false;
  forEachExpression(expression, (part) => {
    if (part.kind === 'identifier' && part.name === name) found = true;
  });
  return found;
}

/** Text for a failed rule without a message. */
export function ruleText(rule: ValidationRule): string {
  return (rule.message || rule.rule).trim();
}

export function defaultMessage(rule: ValidationRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`;
}

/** Value reported with a failed rule: upstream reports the type instead of the data. */
export function shownValue(schema: Schema): JsonValue {
  return schema.type ?? '';
}
