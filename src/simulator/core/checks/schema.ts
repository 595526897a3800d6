import { isIP, isIPv4, isIPv6 } from 'node:net';
import { GoRegexp, must, validatePattern } from '../../../machinery/index.ts';
import { parseIso8601 } from './iso8601.ts';
import { pythonRepr } from './python.ts';

/**
 * The part of JSON Schema that the services use for request bodies. Keywords are checked in the order they are written.
 * The first failure is reported with the message of Python's jsonschema library, because clients see that text.
 */
export interface BodySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly patternProperties?: Readonly<Record<string, BodySchema>>;
  readonly additionalProperties?: boolean | BodySchema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: BodySchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly oneOf?: readonly BodySchema[];
  readonly anyOf?: readonly BodySchema[];
}

export interface SchemaError {
  /** path from the root; empty for the whole body */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly message: string;
  /** failed keyword */
  readonly keyword: string;
}

/** A failure on its way up. Each level prepends its key to the path. */
interface Failure {
  readonly path: (string | number)[];
  readonly value: unknown;
  readonly message: string;
  readonly keyword: string;
}

type Check = (value: unknown, schema: BodySchema) => Failure | undefined;

/** checks of a schema in order, compiled once */
const compiledChecks = new WeakMap<BodySchema, readonly Check[]>();

/** Returns the first error of a value, or undefined. */
export function firstError(schema: BodySchema, value: unknown): SchemaError | undefined {
  return apply(schema, value);
}

function apply(schema: BodySchema, value: unknown): Failure | undefined {
  let list = compiledChecks.get(schema);
  if (!list) {
    list = Object.keys(schema).flatMap((keyword) => checks[keyword] ?? []);
    compiledChecks.set(schema, list);
  }
  for (const check of list) {
    const failure = check(value, schema);
    if (failure) return failure;
  }
  return undefined;
}

function at(key: string | number, failure: Failure | undefined): Failure | undefined {
  failure?.path.unshift(key);
  return failure;
}

type Objectlike = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Objectlike {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Clients choose the text, so patterns are matched in linear time. */
const patterns = new Map<string, GoRegexp>();

function compiled(pattern: string): GoRegexp {
  let expression = patterns.get(pattern);
  if (!expression) {
    expression = new GoRegexp(pattern);
    patterns.set(pattern, expression);
  }
  return expression;
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: isUuid,
  base64: isBase64,
  regex: (text) => validatePattern(text) === undefined,
  'ip-address': (text) => isIP(text) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  'date-time': (text) => parseIso8601(text) !== undefined,
};

/** For large user data, decoding and encoding again is ten times faster than a pattern. */
function isBase64(text: string): boolean {
  const bare = text.includes('\n') ? text.replaceAll('\n', '') : text;
  return bare.length % 4 === 0 && Buffer.from(bare, 'base64').toString('base64') === bare;
}

function fail(keyword: string, value: unknown, message: string): Failure {
  return { path: [], value, message, keyword };
}

const checks: Readonly<Record<string, Check>> = {
  type(value, { type }) {
    const types = typeof type === 'string' ? [type] : (type ?? []);
    if (types.some((each) => isOfType(value, each))) return undefined;
    return fail('type', value, `${pythonRepr(value)} is not of type ${types.map(pythonRepr).join(', ')}`);
  },
  enum(value, schema) {
    if (schema.enum?.includes(value)) return undefined;
    return fail('enum', value, `${pythonRepr(value)} is not one of ${pythonRepr(schema.enum)}`);
  },
  minLength(value, { minLength = 0 }) {
    if (typeof value !== 'string' || value.length >= minLength) return undefined;
    return fail('minLength', value, `${pythonRepr(value)} is too short`);
  },
  maxLength(value, { maxLength = 0 }) {
    if (typeof value !== 'string' || value.length <= maxLength) return undefined;
    return fail('maxLength', value, `${pythonRepr(value)} is too long`);
  },
  pattern(value, { pattern = '' }) {
    if (typeof value !== 'string' || compiled(pattern).test(value)) return undefined;
    return fail('pattern', value, `${pythonRepr(value)} does not match ${pythonRepr(pattern)}`);
  },
  format(value, { format = '' }) {
    if (typeof value !== 'string' || (formats[format]?.(value) ?? true)) return undefined;
    return fail('format', value, `${pythonRepr(value)} is not a ${pythonRepr(format)}`);
  },
  minimum(value, { minimum = 0 }) {
    if (typeof value !== 'number' || value >= minimum) return undefined;
    return fail('minimum', value, `${value} is less than the minimum of ${minimum}`);
  },
  maximum(value, { maximum = 0 }) {
    if (typeof value !== 'number' || value <= maximum) return undefined;
    return fail('maximum', value, `${value} is greater than the maximum of ${maximum}`);
  },
  properties(value, { properties = {} }) {
    if (!isObject(value)) return undefined;
    for (const key in properties) {
      if (!(key in value)) continue;
      const failure = at(key, apply(must(properties[key], 'properties[key]'), value[key]));
      if (failure) return failure;
    }
    return undefined;
  },
  patternProperties(value, { patternProperties = {} }) {
    if (!isObject(value)) return undefined;
    for (const pattern in patternProperties) {
      const expression = compiled(pattern);
      for (const key in value) {
        if (!expression.test(key)) continue;
        const failure = at(key, apply(must(patternProperties[pattern], 'patternProperties[pattern]'), value[key]));
        if (failure) return failure;
      }
    }
    return undefined;
  },
  additionalProperties(value, schema) {
    if (!isObject(value) || schema.additionalProperties === true) return undefined;
    const extra = extraKeys(value, schema);
    if (extra.length === 0) return undefined;
    if (typeof schema.additionalProperties === 'object') {
      for (const key of extra) {
        const failure = at(key, apply(schema.additionalProperties, value[key]));
        if (failure) return failure;
      }
      return undefined;
    }
    return fail('additionalProperties', value, extraMessage(extra, schema));
  },
  required(value, { required = [] }) {
    if (!isObject(value)) return undefined;
    const missing = required.find((key) => !(key in value));
    return missing === undefined ? undefined : fail('required', value, `'${missing}' is a required property`);
  },
  minProperties(value, { minProperties = 0 }) {
    if (!isObject(value) || Object.keys(value).length >= minProperties) return undefined;
    return fail('minProperties', value, `${pythonRepr(value)} does not have enough properties`);
  },
  maxProperties(value, { maxProperties = 0 }) {
    if (!isObject(value) || Object.keys(value).length <= maxProperties) return undefined;
    return fail('maxProperties', value, `${pythonRepr(value)} has too many properties`);
  },
  items(value, { items = {} }) {
    if (!Array.isArray(value)) return undefined;
    for (let i = 0; i < value.length; i++) {
      const failure = at(i, apply(items, value[i]));
      if (failure) return failure;
    }
    return undefined;
  },
  minItems(value, { minItems = 0 }) {
    if (!Array.isArray(value) || value.length >= minItems) return undefined;
    return fail('minItems', value, `${pythonRepr(value)} is too short`);
  },
  maxItems(value, { maxItems = 0 }) {
    if (!Array.isArray(value) || value.length <= maxItems) return undefined;
    return fail('maxItems', value, `${pythonRepr(value)} is too long`);
  },
  uniqueItems(value, { uniqueItems }) {
    if (!uniqueItems || !Array.isArray(value)) return undefined;
    if (new Set(value.map((each) => JSON.stringify(each))).size === value.length) return undefined;
    return fail('uniqueItems', value, `${pythonRepr(value)} has non-unique elements`);
  },
  oneOf: (value, { oneOf = [] }) => underAny('oneOf', oneOf, value),
  anyOf: (value, { anyOf = [] }) => underAny('anyOf', anyOf, value),
};

function underAny(keyword: string, choices: readonly BodySchema[], value: unknown): Failure | undefined {
  for (const choice of choices) if (!apply(choice, value)) return undefined;
  return fail(keyword, value, `${pythonRepr(value)} is not valid under any of the given schemas`);
}

const noKeys: readonly string[] = [];

function extraKeys(value: Objectlike, { properties, patternProperties }: BodySchema): readonly string[] {
  let extra: string[] | undefined;
  for (const key in value) {
    if (properties && Object.hasOwn(properties, key)) continue;
    if (patternProperties && matchesAny(key, patternProperties)) continue;
    extra ??= [];
    extra.push(key);
  }
  return extra ?? noKeys;
}

function matchesAny(key: string, patternProperties: object): boolean {
  for (const pattern in patternProperties) if (compiled(pattern).test(key)) return true;
  return false;
}

function extraMessage(extra: readonly string[], { patternProperties }: BodySchema): string {
  const names = extra.map(pythonRepr).join(', ');
  if (patternProperties) {
    const regexes = Object.keys(patternProperties).sort().map(pythonRepr).join(', ');
    return `${names} ${extra.length === 1 ? 'does' : 'do'} not match any of the regexes: ${regexes}`;
  }
  return `Additional properties are not allowed (${names} ${extra.length === 1 ? 'was' : 'were'} unexpected)`;
}
