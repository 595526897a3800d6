import { appendErrors, type FieldError } from '../errors/field-error.ts';
import { jsonText } from '../json/stringify.ts';
import { deepEqual, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { correlateList, isUnchanged, listMapKey } from './correlate.ts';
import { validateEmbeddedResources } from './embedded.ts';
import { type FormatCheck, formatCheck } from './formats.ts';
import { type GoRegexp, goRegexp } from './go-regexp/index.ts';
import { validateListTypes } from './list-types.ts';
import { own } from './own.ts';
import { dottedPath, joinPath, type PathSegment } from './path.ts';
import { jsonTypeOf } from './type-check.ts';
import type { Schema } from './types.ts';

export interface ValidateOptions {
  /**
   * The value before an update. Errors in unchanged parts that can be matched to it are ignored, so that a tightened
   * schema does not lock existing objects.
   */
  old?: JsonValue;
  /** prefix of the field of every error */
  path?: string;
}

/**
 * Validates a value against a structural schema with the rules and messages of kube-apiserver for custom resources:
 * OpenAPI validation, then embedded resources, then uniqueness in list types. CEL rules are separate.
 */
export function validateAgainstSchema(value: JsonValue, schema: Schema, options: ValidateOptions = {}): FieldError[] {
  const run: Run = { errors: [], path: [], prefix: options.path ?? '', matches: 0 };
  validateCorrelated(run, value, schema, options.old);
  const errors = run.errors.length > 1 ? withoutDuplicates(run.errors) : run.errors;
  validateEmbeddedResources(value, schema, run.prefix, errors);
  validateListTypes(value, options.old, schema, run.prefix, errors);
  return errors;
}

interface Run {
  errors: FieldError[];
  readonly path: PathSegment[];
  readonly prefix: string;
  /** number of checks, counted as kube-openapi does to find the anyOf branch that came closest */
  matches: number;
}

/** Derived data of a schema node, computed once. */
interface Facts {
  readonly pattern: GoRegexp | string | undefined;
  readonly format: FormatCheck | undefined;
  readonly typeText: string;
}

const factsOf = new WeakMap<Schema, Facts>();

function facts(schema: Schema): Facts {
  let known = factsOf.get(schema);
  if (!known) {
    known = {
      pattern: schema.pattern ? goRegexp(schema.pattern) : undefined,
      format: schema.format ? formatCheck(schema.format) : undefined,
      typeText: schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : (schema.type ?? ''),
    };
    factsOf.set(schema, known);
  }
  return known;
}

/** Validates a value, and ignores its errors if it did not change. `old` is undefined when not correlated. */
function validateCorrelated(run: Run, value: JsonValue, schema: Schema, old: JsonValue | undefined): void {
  const before = run.errors.length;
  validateNode(run, value, schema, old);
  if (run.errors.length > before && old !== undefined && isUnchanged(value, old, schema)) run.errors.length = before;
}

function validateNode(run: Run, value: JsonValue, schema: Schema, old: JsonValue | undefined): void {
  if (value === null) {
    if (schema.nullable !== true && facts(schema).typeText !== '') addTypeError(run, schema, 'null');
    else run.matches++;
    if (schema.enum) validateEnum(run, value, schema.enum);
    return;
  }
  run.matches += 4;
  if (schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true) validateType(run, value, schema);
  if (schema.anyOf || schema.oneOf || schema.allOf || schema.not) validateBranches(run, value, schema, old);
  switch (typeof value) {
    case 'string':
      validateString(run, value, schema);
      if (schema.enum) validateEnum(run, value, schema.enum);
      break;
    case 'number':
    case 'bigint':
      validateNumber(run, value, schema);
      if (schema.enum) validateEnum(run, value, schema.enum);
      break;
    case 'object':
      if (Array.isArray(value)) {
        validateArray(run, value, schema, old);
        if (schema.enum) validateEnum(run, value, schema.enum);
      } else {
        if (schema.enum) validateEnum(run, value, schema.enum);
        validateObject(run, value, schema, old);
      }
      break;
    default:
      if (schema.enum) validateEnum(run, value, schema.enum);
  }
}

function validateType(run: Run, value: JsonValue, schema: Schema): void {
  let fits: boolean;
  if (schema['x-kubernetes-int-or-string'] === true) fits = typeof value === 'string' || isInteger(value);
  else {
    switch (schema.type) {
      case 'object':
        fits = typeof value === 'object' && !Array.isArray(value);
        break;
      case 'array':
        fits = Array.isArray(value);
        break;
      case 'integer':
        fits = isInteger(value);
        break;
      case 'number':
        fits = typeof value === 'number' || typeof value === 'bigint';
        break;
      default:
        // string and boolean have the same names in JavaScript.
        fits = typeof value === schema.type;
    }
  }
  if (fits) run.matches += 2;
  else {
    run.matches++;
    addTypeError(run, schema, jsonTypeOf(value));
  }
}

function addTypeError(run: Run, schema: Schema, found: string): void {
  const { format, typeText } = facts(schema);
  // kube-openapi names the format instead of the type if an enforced format meets a value that is not a string.
  const named = format && found !== 'null' && found !== 'array' && found !== 'string';
  const expected = named ? schema.format : typeText;
  const shown = named ? goFormatOf(found) : found;
  const path = dottedPath(run.path);
  addError(run, path, 'TypeInvalid', shown, `${path} in body must be of type ${expected}: ${JSON.stringify(shown)}`);
}

/** The format kube-openapi infers from a Go value of a JSON type. */
function goFormatOf(type: string): string {
  return type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '';
}

function validateString(run: Run, value: string, schema: Schema): void {
  const { maxLength, minLength } = schema;
  const stringErrors = run.errors.length;
  if (maxLength !== undefined && value.length > maxLength && countRunes(value) > maxLength) {
    addError(
      run,
      dottedPath(run.path),
      'TooLong',
      value,
      `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`,
    );
  } else if (minLength !== undefined && minLength > 0 && countRunes(value) < minLength) {
    addInvalid(run, value, `should be at least ${minLength} chars long`);
  }
  if (schema.pattern === undefined && schema.format === undefined) return;
  const { pattern, format } = facts(schema);
  if (pattern !== undefined && run.errors.length === stringErrors) {
    if (typeof pattern === 'string')
      addInvalid(run, value, `should match '${schema.pattern}, but pattern is invalid: ${pattern}'`);
    else if (!pattern.test(value)) addInvalid(run, value, `should match '${schema.pattern}'`);
  }
  if (format) {
    run.matches++;
    if (!format(value)) {
      const path = dottedPath(run.path);
      const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
      addError(run, path, 'TypeInvalid', value, detail);
    }
  }
}

function countRunes(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code <= 0xdfff) count--;
  }
  return count;
}

function isInteger(value: JsonValue): boolean {
  return Number.isInteger(value) || typeof value === 'bigint';
}

function validateNumber(run: Run, value: number | bigint, schema: Schema): void {
  const { multipleOf, minimum, maximum } = schema;
  run.matches++;
  // Bounds are converted to the type of the value: for an integer, 1.5 counts as 1.
  const integer = isInteger(value);
  if (multipleOf !== undefined) {
    const factor = integer ? Math.trunc(multipleOf) : multipleOf;
    if (factor <= 0) {
      const path = dottedPath(run.path);
      addError(run, path, 'Invalid', factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`);
    } else if (!isMultiple(value, factor)) addInvalid(run, value, `should be a multiple of ${factor}`);
  }
  if (minimum !== undefined) {
    const bound = integer ? Math.trunc(minimum) : minimum;
    if (schema.exclusiveMinimum === true) {
      if (value <= bound) addInvalid(run, value, `should be greater than ${bound}`);
    } else if (value < bound) addInvalid(run, value, `should be greater than or equal to ${bound}`);
  }
  if (maximum !== undefined) {
    const bound = integer ? Math.trunc(maximum) : maximum;
    if (schema.exclusiveMaximum === true) {
      if (value >= bound) addInvalid(run, value, `should be less than ${bound}`);
    } else if (value > bound) addInvalid(run, value, `should be less than or equal to ${bound}`);
  }
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint') return value % BigInt(Math.trunc(factor)) === 0n;
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

function validateArray(run: Run, value: JsonArray, schema: Schema, old: JsonValue | undefined): void {
  const { items, minItems, maxItems } = schema;
  const { length } = value;
  if (items) {
    const byKey = old === undefined ? undefined : correlateList(old, schema);
    for (let i = 0; i < length; i++) {
      const element = value[i];
      if (element === undefined) continue;
      const key = byKey && listMapKey(element, schema);
      run.path.push(i);
      validateCorrelated(run, element, items, key === undefined ? undefined : byKey?.get(key));
      run.path.pop();
    }
  }
  if (minItems !== undefined && length < minItems) addInvalid(run, length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && length > maxItems) addTooMany(run, length, maxItems);
  if (schema.uniqueItems === true && hasDuplicates(value)) addInvalid(run, '', "shouldn't contain duplicates");
}

function hasDuplicates(values: JsonArray): boolean {
  return values.some((value, i) => values.findIndex((other) => deepEqual(other, value)) < i);
}

function validateObject(run: Run, value: JsonObject, schema: Schema, old: JsonValue | undefined): void {
  const { properties, additionalProperties, required, minProperties, maxProperties } = schema;
  const before = typeof old === 'object' && old !== null && !Array.isArray(old) ? old : undefined;
  let count = 0;
  if (minProperties !== undefined || maxProperties !== undefined) {
    for (const key in value) if (value[key] !== undefined) count++;
    if (minProperties !== undefined && count < minProperties) {
      addInvalid(run, count, `should have at least ${minProperties} properties`);
    }
    if (maxProperties !== undefined && count > maxProperties) addTooMany(run, count, maxProperties);
  }
  if (properties || additionalProperties !== undefined) {
    const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const atRoot = run.path.length === 0;
    for (const key in value) {
      const member = value[key];
      if (member === undefined) continue;
      const memberShape = own(properties, key) ?? rest;
      if (memberShape) {
        run.path.push(key);
        // Errors in apiVersion and kind are never ignored, because they decide the meaning of everything else.
        const ratchets = before !== undefined && !(atRoot && (key === 'apiVersion' || key === 'kind'));
        validateCorrelated(
          run,
          member,
          memberShape,
          ratchets ? own(before as Record<string, JsonValue>, key) : undefined,
        );
        run.path.pop();
      } else if (additionalProperties === false) {
        const path = dottedPath(run.path);
        addError(run, path, 'Invalid', key, `${path}.${key} in body is a forbidden property`);
      }
    }
  }
  if (required) {
    for (const key of required) {
      if (!Object.hasOwn(value, key) || value[key] === undefined) {
        addError(run, joinPath(dottedPath(run.path), key), 'Required', '', '');
      }
    }
  }
}

function validateEnum(run: Run, value: JsonValue, allowed: readonly JsonValue[]): void {
  if (value !== null) {
    if (typeof value !== 'object') {
      if (allowed.includes(value)) return;
    } else if (allowed.some((candidate) => deepEqual(candidate, value))) return;
  }
  const texts = allowed.map((item) => JSON.stringify(typeof item === 'string' ? item : jsonText(item)));
  addError(run, dottedPath(run.path), 'NotSupported', value, `supported values: ${texts.join(', ')}`);
}

function validateBranches(run: Run, value: JsonValue, schema: Schema, old: JsonValue | undefined): void {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf && anyOf.length > 0) {
    const { valid, best } = tryBranches(run, value, anyOf, old, 'firstValid');
    if (valid === 0) addComposite(run, 'must validate at least one schema (anyOf)');
    if (best) appendErrors(run.errors, best);
  }
  if (oneOf && oneOf.length > 0) {
    const { valid, best } = tryBranches(run, value, oneOf, old, 'end');
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      addComposite(run, `must validate one and only one schema (oneOf). ${found}`);
      if (best) appendErrors(run.errors, best);
    }
  }
  if (allOf && allOf.length > 0) {
    let valid = 0;
    for (const branch of allOf) {
      const before = run.errors.length;
      validateNode(run, value, branch, old);
      if (run.errors.length === before) valid++;
    }
    if (valid < allOf.length) {
      addComposite(run, `must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
    }
  }
  if (not) {
    const saved = run.errors;
    const matches = run.matches;
    run.errors = [];
    validateNode(run, value, not, old);
    const valid = run.errors.length === 0;
    run.errors = saved;
    run.matches = matches;
    if (valid) addComposite(run, 'must not validate the schema (not)');
  }
}

/** Counts the valid branches. If none is valid, `best` has the errors of the branch that passed most checks. */
function tryBranches(
  run: Run,
  value: JsonValue,
  branches: readonly Schema[],
  old: JsonValue | undefined,
  until: 'firstValid' | 'end',
): { valid: number; best: FieldError[] | undefined } {
  const saved = run.errors;
  const matches = run.matches;
  let valid = 0;
  let best: FieldError[] | undefined;
  let bestMatches = -1;
  for (const branch of branches) {
    run.errors = [];
    run.matches = 0;
    validateNode(run, value, branch, old);
    if (run.errors.length === 0) {
      valid++;
      best = undefined;
      if (until === 'firstValid') break;
    } else if (valid === 0 && run.matches > bestMatches) {
      best = run.errors;
      bestMatches = run.matches;
    }
  }
  run.errors = saved;
  run.matches = matches + Math.max(0, bestMatches);
  return { valid, best };
}

/** `sentence` follows "<path> in body ". */
function addInvalid(run: Run, value: unknown, sentence: string): void {
  const path = dottedPath(run.path);
  addError(run, path, 'Invalid', value, `${path} in body ${sentence}`);
}

/** Errors of combined schemas have their path only in the text. Their field is that of the whole object. */
function addComposite(run: Run, sentence: string): void {
  addError(run, '', 'Invalid', '', `${JSON.stringify(dottedPath(run.path))} ${sentence}`);
}

function addTooMany(run: Run, actual: number, max: number): void {
  const detail = `${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  addError(run, dottedPath(run.path), 'TooMany', actual, detail);
}

function addError(run: Run, path: string, type: FieldError['type'], value: unknown, detail: string): void {
  run.errors.push({ type, field: joinPath(run.prefix, path), value, detail });
}

function withoutDuplicates(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter((error) => {
    const key = `${error.field}\u0000${error.type}\u0000${error.detail}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
