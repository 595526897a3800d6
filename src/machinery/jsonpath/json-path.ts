import { isJsonObject, type JsonValue } from '../json/value.ts';
import { type FilterOperator, type PathStep, parseJsonPath } from './parse.ts';

export interface JsonPath {
  readonly expression: string;
  /** Returns all values the expression matches. Returns none where a part is missing or has another type. */
  find(object: unknown): JsonValue[];
}

/** Compiles the expression of a printer column or of `kubectl -o jsonpath`. Throws JsonPathError. */
export function compileJsonPath(expression: string): JsonPath {
  const steps = parseJsonPath(expression);
  return {
    expression,
    find(object) {
      try {
        return applySteps([object as JsonValue], steps);
      } catch (error) {
        if (error instanceof DataMismatch) return [];
        throw error;
      }
    },
  };
}

/** The data does not have the expected shape. The whole expression then finds nothing, as in client-go. */
class DataMismatch extends Error {}

function applySteps(values: JsonValue[], steps: readonly PathStep[]): JsonValue[] {
  let current = values;
  for (const step of steps) current = applyStep(current, step);
  return current;
}

function applyStep(values: JsonValue[], step: PathStep): JsonValue[] {
  const results: JsonValue[] = [];
  switch (step.kind) {
    case 'literal':
      return values.map(() => step.value);
    case 'field':
      for (const value of values) {
        if (isJsonObject(value) && Object.hasOwn(value, step.name)) {
          const member = value[step.name];
          if (member !== undefined) results.push(member);
        }
      }
      return results;
    case 'wildcard':
      for (const value of values) results.push(...members(value));
      return results;
    case 'recursive':
      for (const value of values) collect(value, results);
      return results;
    case 'union':
      for (const branch of step.branches) results.push(...applySteps(values, branch));
      return results;
    case 'slice':
      for (const value of values) if (value !== null) slice(value, step, results);
      return results;
    case 'filter':
      for (const value of values) {
        if (!Array.isArray(value)) throw new DataMismatch();
        for (const element of value) if (passes(element, step)) results.push(element);
      }
      return results;
  }
}

function members(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? (Object.values(value).filter((member) => member !== undefined) as JsonValue[]) : [];
}

/** Collects the value and all its descendants that have members. */
function collect(value: JsonValue, results: JsonValue[]): void {
  const children = members(value);
  if (children.length === 0) return;
  results.push(value);
  for (const child of children) collect(child, results);
}

function slice(value: JsonValue, step: PathStep & { kind: 'slice' }, results: JsonValue[]): void {
  if (!Array.isArray(value)) throw new DataMismatch();
  const { length } = value;
  const start = step.start < 0 ? step.start + length : step.start;
  let end = step.end ?? length;
  // The end of a single negative index is zero for the last element.
  if (end < 0 || (end === 0 && step.single)) end += length;
  if (start === end) return;
  if (start < 0 || start >= length || end < 0 || end > length || start > end || step.step <= 0) {
    throw new DataMismatch();
  }
  for (let i = start; i < end; i += step.step) results.push(value[i] ?? null);
}

function passes(element: JsonValue, filter: PathStep & { kind: 'filter' }): boolean {
  const left = applySteps([element], filter.left);
  if (filter.operator === 'exists') return left.length > 0;
  const [one] = left;
  if (one === undefined) return false;
  const right = applySteps([element], filter.right);
  const [other] = right;
  if (other === undefined) return false;
  if (left.length > 1 || right.length > 1) throw new DataMismatch();
  return compare(one, other, filter.operator);
}

function compare(left: JsonValue, right: JsonValue, operator: FilterOperator): boolean {
  if (left === null || typeof left === 'object' || typeof left !== typeof right) throw new DataMismatch();
  const ordered = typeof left !== 'boolean';
  const other = right as string | number;
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    default:
      if (!ordered) throw new DataMismatch();
  }
  switch (operator) {
    case '<':
      return left < other;
    case '>':
      return left > other;
    case '<=':
      return left <= other;
    default:
      return left >= other;
  }
}
