import { jsonText } from '../json/stringify.ts';
import type { JsonValue } from '../json/value.ts';
import { formatPathElement } from './path-element.ts';
import { type FieldType, formOf, ListType, MapType, type Scalar } from './type-model.ts';

/**
 * Lists reasons why a configuration cannot be applied: undeclared fields, wrong types, list items that cannot be told
 * apart. Uses the wording of kube-apiserver, e.g. `.spec.ports: duplicate entries for key [port=80]`.
 */
export function problemsOfApplied(type: FieldType, value: JsonValue): string[] {
  const problems: string[] = [];
  check(type, value, '', problems);
  return problems;
}

function check(type: FieldType, value: JsonValue, path: string, problems: string[]): void {
  if (value === null) return;
  const form = formOf(type, value);
  if (form instanceof MapType) checkMap(form, value, path, problems);
  else if (form instanceof ListType) checkList(form, value, path, problems);
  else checkScalar(form, value, path, problems);
}

function checkMap(type: MapType, value: JsonValue, path: string, problems: string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(`${path}: expected map, got &{${goPlain(value)}}`);
    return;
  }
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    const memberType = type.field(key) ?? type.element;
    if (!memberType) {
      // Upstream stops at the first undeclared field of an object.
      problems.push(`${path}.${key}: field not declared in schema`);
      return;
    }
    check(memberType, member, `${path}.${key}`, problems);
  }
}

function checkList(type: ListType, value: JsonValue, path: string, problems: string[]): void {
  if (!Array.isArray(value)) {
    problems.push(`${path}: expected list, got &{${goPlain(value)}}`);
    return;
  }
  const seen = new Set<string>();
  for (const [i, item] of value.entries()) {
    if (type.atomic) {
      check(type.element, item, `${path}[${i}]`, problems);
      continue;
    }
    const element = type.elementOf(item);
    if (element === undefined) {
      problems.push(`${path}: element ${i}: ${type.identityProblem(item)}`);
      return;
    }
    const shown = formatPathElement(element);
    if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${shown}`);
    seen.add(element);
    check(type.element, item, path + shown, problems);
  }
}

function checkScalar(scalar: Scalar, value: JsonValue, path: string, problems: string[]): void {
  const type = typeof value;
  if (scalar === 'numeric' && type !== 'number' && type !== 'bigint') {
    problems.push(`${path}: expected numeric (int or float), got ${goType(value)}`);
  } else if (scalar === 'string' && type !== 'string') {
    problems.push(`${path}: expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
  } else if (scalar === 'boolean' && type !== 'boolean') {
    problems.push(`${path}: expected boolean, got &{${goPlain(value)}}`);
  } else if (scalar === 'untyped' && type === 'object') {
    problems.push(`${path}: expected any scalar, got &{${goPlain(value)}}`);
  }
}

function goType(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object' && value !== null) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Formats like Go's `%v`. */
function goPlain(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((key) => `${key}:${goPlain(value[key])}`).join(' ')}]`;
}

/** Formats like Go's `%#v`. */
function goSyntax(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value !== 'object') return jsonText(value);
  const members = Object.keys(value).sort();
  return `map[string]interface {}{${members.map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`).join(', ')}}`;
}
