import {
  formatCheck,
  type GoRegexp,
  goRegexp,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  must,
  RegexpBudgetExceeded,
  type StepBudget,
} from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { formatFloat } from '../format/index.ts';
import { quoteGo } from '../syntax/index.ts';
import { isList, isMap, sortedKeys, type Value, type ValueList, type ValueMap } from '../values/index.ts';

/** A schema violation with its location and causes. */
export interface Violation {
  readonly path: readonly string[];
  readonly message: string;
  readonly causes: readonly Violation[];
  /** a group has no line of its own if it is the only result of a schema or reference */
  readonly kind: 'group' | 'reference' | 'plain';
}

/** Maximum number of evaluated subschemas per validation. Recursive schemas may not terminate. */
const maxSteps = 300_000;
const maxDepth = 500;

/** Validates values against a JSON schema of drafts 4 to 2020-12, with the messages of Helm's library. */
export class JsonSchema {
  readonly #root: JsonValue;
  readonly #draft: number;
  readonly #anchors = new Map<string, JsonValue>();
  readonly #patterns = new Map<string, GoRegexp>();
  readonly #regexpBudget: StepBudget = { left: 10_000_000 };
  /** references to other documents, which are not fetched and accept everything */
  readonly foreign: Set<string> = new Set();
  #steps = 0;

  constructor(root: JsonValue) {
    this.#root = root;
    this.#draft = draftOf(root);
    this.#index(root, 0);
  }

  /** Returns undefined if the value is valid. */
  validate(value: Value): Violation | undefined {
    return new Validation(this, value, this.#root, [], []).run();
  }

  get draft(): number {
    return this.#draft;
  }

  step(depth: number): void {
    if (++this.#steps > maxSteps) throw new TemplateError('values.schema.json takes too many steps', { isLimit: true });
    if (depth > maxDepth) throw new TemplateError('values.schema.json refers to itself endlessly', { isLimit: true });
  }

  pattern(source: string): GoRegexp {
    let pattern = this.#patterns.get(source);
    if (!pattern) {
      const compiled = goRegexp(source);
      if (typeof compiled === 'string')
        throw new TemplateError(`values.schema.json: bad pattern '${source}': ${compiled}`);
      pattern = compiled;
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }

  matches(source: string, text: string): boolean {
    try {
      return this.pattern(source).test(text, this.#regexpBudget);
    } catch (error) {
      if (!(error instanceof RegexpBudgetExceeded)) throw error;
      throw new TemplateError('values.schema.json: its patterns take too many steps', { isLimit: true });
    }
  }

  /** Resolves a `$ref`. Returns undefined for another document. */
  resolve(reference: string): JsonValue | undefined {
    const [document = '', fragment = ''] = reference.split('#', 2);
    const isOwn = document === '' || document === this.#id;
    if (!isOwn) {
      const anchored = this.#anchors.get(reference) ?? (fragment === '' ? this.#anchors.get(document) : undefined);
      if (anchored !== undefined) return anchored;
      this.foreign.add(reference);
      return undefined;
    }
    if (fragment === '') return this.#root;
    const found = fragment.startsWith('/') ? this.#at(fragment) : this.#anchors.get(`#${fragment}`);
    if (found === undefined) throw new TemplateError(`values.schema.json: $ref ${quote(reference)} leads nowhere`);
    return found;
  }

  get #id(): string | undefined {
    const id = isJsonObject(this.#root) ? (this.#root['$id'] ?? this.#root['id']) : undefined;
    return typeof id === 'string' ? id.replace(/#$/, '') : undefined;
  }

  #at(pointer: string): JsonValue | undefined {
    let at: JsonValue | undefined = this.#root;
    for (const token of pointer.slice(1).split('/')) {
      const key = decodeToken(token);
      if (Array.isArray(at)) at = at[Number(key)];
      else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
      if (at === undefined) return undefined;
    }
    return at;
  }

  /** Collects anchors and identifiers. */
  #index(schema: JsonValue, depth: number): void {
    if (depth > maxDepth) throw new TemplateError('values.schema.json is nested too deep', { isLimit: true });
    if (Array.isArray(schema)) for (const item of schema) this.#index(item, depth + 1);
    if (!isJsonObject(schema)) return;
    for (const name of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[name];
      if (typeof anchor === 'string') this.#anchors.set(`#${anchor}`, schema);
    }
    for (const name of ['$id', 'id']) {
      const id = schema[name];
      if (typeof id === 'string' && schema !== this.#root) this.#anchors.set(id, schema);
    }
    for (const member of Object.values(schema)) if (member !== undefined) this.#index(member, depth + 1);
  }
}

function decodeToken(token: string): string {
  let text = token;
  try {
    text = decodeURIComponent(token);
  } catch {
    // Invalid escapes are used as is.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function draftOf(schema: JsonValue): number {
  const url = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (typeof url !== 'string') return 2020;
  const found = /draft-0([467])|draft\/(2019|2020)/.exec(url);
  return Number(found?.[1] ?? found?.[2] ?? 2020);
}

/** Properties and items that no schema has evaluated yet, tracked only if `unevaluated…` needs it. */
class Unevaluated {
  readonly properties: Set<string>;
  readonly items: Set<number>;

  constructor(value: Value) {
    this.properties = new Set(isMap(value) ? value.keys() : []);
    this.items = new Set(isList(value) ? value.keys() : []);
  }

  keepCommon(other: Unevaluated): void {
    for (const name of this.properties) if (!other.properties.has(name)) this.properties.delete(name);
    for (const index of this.items) if (!other.items.has(index)) this.items.delete(index);
  }
}

class Validation {
  readonly #schemas: JsonSchema;
  readonly #value: Value;
  readonly #schema: JsonValue;
  readonly #path: readonly string[];
  /** schemas in progress for the same value; a repetition is a cycle */
  readonly #applied: readonly JsonValue[];
  readonly #violations: Violation[] = [];
  readonly unevaluated: Unevaluated;

  constructor(
    schemas: JsonSchema,
    value: Value,
    schema: JsonValue,
    path: readonly string[],
    applied: readonly JsonValue[],
  ) {
    this.#schemas = schemas;
    this.#value = value;
    this.#schema = schema;
    this.#path = path;
    this.#applied = applied;
    this.unevaluated = new Unevaluated(value);
  }

  run(): Violation | undefined {
    const schema = this.#schema;
    this.#schemas.step(this.#path.length + this.#applied.length);
    if (schema === false) return this.#violation('false schema');
    if (!isJsonObject(schema)) return undefined;
    if (this.#applied.includes(schema)) return this.#violation('the schema refers to itself in a cycle');
    const first = this.#simple(schema);
    if (first !== undefined) return this.#violation(first);
    const reference = schema['$ref'];
    if (typeof reference === 'string') {
      const violation = this.#reference(reference);
      if (this.#schemas.draft < 2019) return violation;
      this.#add(violation);
    }
    const value = this.#value;
    if (isMap(value)) this.#object(schema, value);
    else if (isList(value)) this.#array(schema, value);
    else if (typeof value === 'string') this.#text(schema, value);
    else if (typeof value === 'number') this.#number(schema, value);
    if (this.#schemas.draft >= 2019) {
      for (const keyword of ['$recursiveRef', '$dynamicRef']) {
        const target = schema[keyword];
        if (typeof target === 'string') this.#add(this.#reference(target));
      }
    }
    this.#conditions(schema);
    if (this.#schemas.draft >= 2019) this.#rest(schema);
    if (this.#violations.length <= 1) return this.#violations[0];
    return { path: this.#path, message: 'validation failed', causes: this.#violations, kind: 'group' };
  }

  #violation(message: string, causes: readonly Violation[] = []): Violation {
    return { path: this.#path, message, causes, kind: 'plain' };
  }

  #fail(message: string, causes: readonly Violation[] = []): void {
    this.#violations.push(this.#violation(message, causes));
  }

  #add(violation: Violation | undefined): void {
    if (violation) this.#violations.push(violation);
  }

  /** Checks keywords that need no subschemas. */
  #simple(schema: JsonObject): string | undefined {
    const value = this.#value;
    const types = schema['type'];
    if (types !== undefined) {
      const wanted = (Array.isArray(types) ? types : [types]).filter((type) => typeof type === 'string');
      const type = typeName(value);
      const fits = wanted.includes(type) || (wanted.includes('integer') && isInteger(value));
      if (wanted.length > 0 && !fits) {
        const known = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];
        return `got ${type}, want ${known.filter((name) => wanted.includes(name)).join(' or ')}`;
      }
    }
    const wanted = schema['const'];
    if (wanted !== undefined && this.#schemas.draft > 4 && !equals(value, wanted)) {
      return isPrimitive(wanted) ? `value must be ${display(wanted)}` : "'const' failed";
    }
    const choices = schema['enum'];
    if (Array.isArray(choices) && !choices.some((choice) => equals(value, choice))) {
      if (!choices.every(isPrimitive)) return "'enum' failed";
      if (choices.length === 1) return `value must be ${display(choices[0] ?? null)}`;
      return `value must be one of ${choices.map(display).join(', ')}`;
    }
    const format = schema['format'];
    if (typeof format === 'string' && typeof value === 'string' && this.#schemas.draft < 2019) {
      const check = assertedFormats.has(format) ? formatCheck(format) : undefined;
      if (check && !check(value)) return `${quote(value)} is not valid ${format}`;
    }
    return undefined;
  }

  #reference(reference: string): Violation | undefined {
    const target = this.#schemas.resolve(reference);
    if (target === undefined) return undefined;
    const violation = this.#self(target);
    if (!violation) return undefined;
    const causes = violation.kind === 'group' ? violation.causes : [violation];
    return { path: this.#path, message: 'validation failed', causes, kind: 'reference' };
  }

  /** Applies another schema to the same value. */
  #self(schema: JsonValue): Violation | undefined {
    const inner = new Validation(this.#schemas, this.#value, schema, this.#path, [...this.#applied, this.#schema]);
    const violation = inner.run();
    if (!violation) this.unevaluated.keepCommon(inner.unevaluated);
    return violation;
  }

  #child(schema: JsonValue, value: Value, key: string): Violation | undefined {
    return new Validation(this.#schemas, value, schema, [...this.#path, key], []).run();
  }

  #object(schema: JsonObject, value: ValueMap): void {
    const count = (keyword: string): number | undefined => {
      const limit = schema[keyword];
      return typeof limit === 'number' ? limit : undefined;
    };
    const min = count('minProperties');
    if (min !== undefined && value.size < min) this.#fail(`minProperties: got ${value.size}, want ${min}`);
    const max = count('maxProperties');
    if (max !== undefined && value.size > max) this.#fail(`maxProperties: got ${value.size}, want ${max}`);
    const missing = missingOf(value, schema['required']);
    if (missing.length === 1) this.#fail(`missing property ${quote(must(missing[0], 'the first of missing'))}`);
    else if (missing.length > 1) this.#fail(`missing properties ${missing.map(quote).join(', ')}`);
    this.#dependencies(schema, value);
    this.#properties(schema, value);
    const names = schema['propertyNames'];
    if (names !== undefined && this.#schemas.draft > 4) {
      for (const name of sortedKeys(value)) {
        const violation = new Validation(this.#schemas, name, names, [], []).run();
        if (!violation) continue;
        const causes = violation.kind === 'group' ? violation.causes : [violation];
        this.#violations.push({ ...this.#violation(`invalid propertyName ${quote(name)}`, causes), path: [] });
      }
    }
  }

  #dependencies(schema: JsonObject, value: ValueMap): void {
    for (const keyword of ['dependencies', 'dependentSchemas', 'dependentRequired']) {
      const dependencies = schema[keyword];
      if (!isJsonObject(dependencies)) continue;
      for (const [name, dependency] of Object.entries(dependencies)) {
        if (dependency === undefined || !value.has(name)) continue;
        if (!Array.isArray(dependency)) {
          this.#add(this.#self(dependency));
          continue;
        }
        const missing = missingOf(value, dependency);
        if (missing.length > 0) {
          this.#fail(`properties ${missing.map(quote).join(', ')} required, if ${quote(name)} exists`);
        }
      }
    }
  }

  #properties(schema: JsonObject, value: ValueMap): void {
    const properties = schema['properties'];
    const patterns = schema['patternProperties'];
    const additional = schema['additionalProperties'];
    const extra: string[] = [];
    for (const name of sortedKeys(value)) {
      const member = value.get(name);
      let isEvaluated = false;
      const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own !== undefined) {
        isEvaluated = true;
        this.#add(this.#child(own, member, name));
      }
      for (const [pattern, inner] of isJsonObject(patterns) ? Object.entries(patterns) : []) {
        if (inner === undefined || !this.#schemas.matches(pattern, name)) continue;
        isEvaluated = true;
        this.#add(this.#child(inner, member, name));
      }
      if (!isEvaluated && additional !== undefined) {
        isEvaluated = true;
        if (additional === false) extra.push(name);
        else this.#add(this.#child(additional, member, name));
      }
      if (isEvaluated) this.unevaluated.properties.delete(name);
    }
    if (extra.length > 0) this.#fail(`additional properties ${extra.map(quote).join(', ')} not allowed`);
  }

  #array(schema: JsonObject, value: ValueList): void {
    const { length } = value;
    const min = schema['minItems'];
    if (typeof min === 'number' && length < min) this.#fail(`minItems: got ${length}, want ${min}`);
    const max = schema['maxItems'];
    if (typeof max === 'number' && length > max) this.#fail(`maxItems: got ${length}, want ${max}`);
    if (schema['uniqueItems'] === true) this.#unique(value);
    this.#items(schema, value);
    this.#contains(schema, value);
  }

  #unique(value: ValueList): void {
    const seen = new Map<string, number>();
    for (const [index, item] of value.entries()) {
      const key = canonical(item);
      const before = seen.get(key);
      if (before !== undefined) return this.#fail(`items at ${before} and ${index} are equal`);
      seen.set(key, index);
    }
  }

  #items(schema: JsonObject, value: ValueList): void {
    const isNew = this.#schemas.draft >= 2020;
    const items = schema['items'];
    const prefix = isNew ? schema['prefixItems'] : items;
    let done = 0;
    if (Array.isArray(prefix)) {
      for (const part of prefix.slice(0, value.length)) {
        this.#add(this.#child(part, value[done], String(done)));
        done++;
      }
    }
    const others = isNew || !Array.isArray(items) ? items : schema['additionalItems'];
    if (others !== undefined && !Array.isArray(others)) {
      if (others === false && !isNew && Array.isArray(items)) {
        if (done < value.length) this.#fail(`last ${value.length - done} additionalItem(s) not allowed`);
      } else for (; done < value.length; done++) this.#add(this.#child(others, value[done], String(done)));
    }
    for (let index = 0; index < done; index++) this.unevaluated.items.delete(index);
  }

  #contains(schema: JsonObject, value: ValueList): void {
    const contains = schema['contains'];
    if (contains === undefined || this.#schemas.draft === 4) return;
    const causes: Violation[] = [];
    const matched: number[] = [];
    for (const [index, item] of value.entries()) {
      const violation = this.#child(contains, item, String(index));
      if (violation) causes.push(violation);
      else {
        matched.push(index);
        if (this.#schemas.draft >= 2020) this.unevaluated.items.delete(index);
      }
    }
    const min = schema['minContains'];
    const at = `but matched ${matched.length} items at ${matched.join(' ')}`;
    if (typeof min === 'number') {
      const found = matched.length === 0 ? 'but none matched' : at;
      if (matched.length < min) this.#fail(`min ${min} items required to match contains schema, ${found}`, causes);
    } else if (matched.length === 0) this.#fail('no items match contains schema', causes);
    const max = schema['maxContains'];
    if (typeof max === 'number' && matched.length > max) {
      this.#fail(`max ${max} items required to match contains schema, ${at}`);
    }
  }

  #text(schema: JsonObject, value: string): void {
    const min = schema['minLength'];
    const max = schema['maxLength'];
    if (typeof min === 'number' || typeof max === 'number') {
      const length = [...value].length;
      if (typeof min === 'number' && length < min) this.#fail(`minLength: got ${length}, want ${min}`);
      if (typeof max === 'number' && length > max) this.#fail(`maxLength: got ${length}, want ${max}`);
    }
    const pattern = schema['pattern'];
    if (typeof pattern === 'string' && !this.#schemas.matches(pattern, value)) {
      this.#fail(`${quote(value)} does not match pattern ${quote(pattern)}`);
    }
  }

  #number(schema: JsonObject, value: number): void {
    const limit = (keyword: string): number | undefined => {
      const given = schema[keyword];
      return typeof given === 'number' ? given : undefined;
    };
    const fail = (keyword: string, want: number): void =>
      this.#fail(`${keyword}: got ${numberText(value)}, want ${numberText(want)}`);
    const [min, max] = [limit('minimum'), limit('maximum')];
    // In draft 4 the exclusive keywords are booleans that modify the others.
    const isOpenMin = schema['exclusiveMinimum'] === true;
    const isOpenMax = schema['exclusiveMaximum'] === true;
    const above = isOpenMin ? min : limit('exclusiveMinimum');
    const below = isOpenMax ? max : limit('exclusiveMaximum');
    if (min !== undefined && !isOpenMin && value < min) fail('minimum', min);
    if (max !== undefined && !isOpenMax && value > max) fail('maximum', max);
    if (above !== undefined && value <= above) fail('exclusiveMinimum', above);
    if (below !== undefined && value >= below) fail('exclusiveMaximum', below);
    const step = limit('multipleOf');
    if (step !== undefined && step > 0 && !isMultiple(value, step)) fail('multipleOf', step);
  }

  #conditions(schema: JsonObject): void {
    const { draft } = this.#schemas;
    const not = schema['not'];
    if (not !== undefined && !this.#self(not)) this.#fail("'not' failed");
    const all = schema['allOf'];
    if (Array.isArray(all)) {
      const causes = all.flatMap((inner) => this.#self(inner) ?? []);
      if (causes.length > 0) this.#fail("'allOf' failed", causes);
    }
    const any = schema['anyOf'];
    if (Array.isArray(any) && any.length > 0) {
      const causes = any.map((inner) => this.#self(inner));
      if (!causes.includes(undefined)) {
        this.#fail(
          "'anyOf' failed",
          causes.filter((cause) => cause !== undefined),
        );
      }
    }
    const one = schema['oneOf'];
    if (Array.isArray(one) && one.length > 0) this.#oneOf(one);
    const condition = schema['if'];
    if (condition === undefined || draft < 7) return;
    const branch = this.#self(condition) ? schema['else'] : schema['then'];
    if (branch !== undefined) this.#add(this.#self(branch));
  }

  #oneOf(choices: readonly JsonValue[]): void {
    const causes: Violation[] = [];
    let matched: number | undefined;
    for (const [index, choice] of choices.entries()) {
      const violation = this.#self(choice);
      if (violation) causes.push(violation);
      else if (matched === undefined) matched = index;
      else return this.#fail(`'oneOf' failed, subschemas ${matched}, ${index} matched`);
    }
    if (matched === undefined) this.#fail("'oneOf' failed, none matched", causes);
  }

  #rest(schema: JsonObject): void {
    const value = this.#value;
    const properties = schema['unevaluatedProperties'];
    if (properties !== undefined && isMap(value)) {
      for (const name of [...this.unevaluated.properties].sort()) {
        this.#add(this.#child(properties, value.get(name), name));
        this.unevaluated.properties.delete(name);
      }
    }
    const items = schema['unevaluatedItems'];
    if (items !== undefined && isList(value)) {
      for (const index of this.unevaluated.items) {
        this.#add(this.#child(items, value[index], String(index)));
        this.unevaluated.items.delete(index);
      }
    }
  }
}

const assertedFormats = new Set(['uuid', 'ipv4', 'ipv6', 'hostname', 'email', 'date', 'date-time', 'uri']);

function missingOf(value: ValueMap, required: JsonValue | undefined): string[] {
  if (!Array.isArray(required)) return [];
  return required.filter((name): name is string => typeof name === 'string' && !value.has(name));
}

function typeName(value: Value): string {
  if (value === null || value === undefined) return 'null';
  if (isList(value)) return 'array';
  if (isMap(value)) return 'object';
  return typeof value;
}

const isInteger = (value: Value): boolean => typeof value === 'number' && Number.isInteger(value);

const isPrimitive = (value: JsonValue): boolean => typeof value !== 'object' || value === null;

function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  // Treats 0.3 as a multiple of 0.1 despite rounding.
  return (
    Number.isInteger(quotient) || Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
  );
}

function equals(value: Value, wanted: JsonValue): boolean {
  if (Array.isArray(wanted)) {
    return isList(value) && value.length === wanted.length && wanted.every((item, index) => equals(value[index], item));
  }
  if (isJsonObject(wanted)) {
    const members = Object.entries(wanted).flatMap(([key, member]) => (member === undefined ? [] : [{ key, member }]));
    return (
      isMap(value) &&
      value.size === members.length &&
      members.every(({ key, member }) => value.has(key) && equals(value.get(key), member))
    );
  }
  return value === wanted || (typeof wanted === 'bigint' && value === Number(wanted));
}

/** Returns a text that is equal exactly for equal values. */
function canonical(value: Value): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (isMap(value))
    return `{${sortedKeys(value)
      .map((key) => `${JSON.stringify(key)}:${canonical(value.get(key))}`)
      .join(',')}}`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Formats like `%q`, but in single quotes. */
function quote(text: string): string {
  const inner = quoteGo(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

function display(value: JsonValue): string {
  if (typeof value === 'string') return quote(value);
  if (value === null) return '<nil>';
  return typeof value === 'number' ? numberText(value) : String(value);
}

const numberText = (value: number): string => grouped(formatFloat(value, 'g', -1));

/** The library formats numbers with commas between thousands. */
function grouped(text: string): string {
  return /^-?[0-9]{4,}(?:\.|$)/.test(text) ? text.replace(/\B(?=(?:[0-9]{3})+(?![0-9]))/g, ',') : text;
}

/** Formats violations as lines. Causes are indented. */
export function violationLines(violation: Violation, indent = 0): string[] {
  if (violation.kind === 'reference' && violation.causes.length === 1)
    return violationLines(must(violation.causes[0], 'the first of violation.causes'), indent);
  const at = violation.path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return [
    `${'  '.repeat(indent)}- at ${quote(at)}: ${violation.message}`,
    ...violation.causes.flatMap((cause) => violationLines(cause, indent + 1)),
  ];
}
