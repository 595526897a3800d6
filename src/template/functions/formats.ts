import { formatFoldedYaml, formatPrettyYaml, type JsonValue, parseYaml } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { isList, isMap, toTemplateValue, type Value } from '../values/index.ts';
import { parseToml } from './from-toml.ts';
import { type CallContext, define, type Library, type TemplateFunction, text } from './function.ts';
import { escapeForHtml, escapeLineEnds, formatJson, toJsonValue } from './go-json.ts';
import { formatToml } from './toml.ts';

const any = 'interface {}';

/** Line width at which go-yaml folds. */
const lineWidth = 80;

type Writer = (value: Value, context: CallContext) => string;

/** Helm's encoders return an empty text on error; the `must` variants fail. */
const writing = (write: Writer): TemplateFunction =>
  define(any, ([value], context) => {
    try {
      return bounded(write(value, context), context);
    } catch (error) {
      if (error instanceof FunctionError) return '';
      throw error;
    }
  });
const writingStrictly = (write: Writer): TemplateFunction =>
  define(any, ([value], context) => bounded(write(value, context), context));

function bounded(result: string, { budget }: CallContext): string {
  budget.reserve(result.length);
  return result;
}

const json: Writer = (value, context) => escapeForHtml(formatJson(toJsonValue(value, context)));
const prettyJson: Writer = (value, context) => escapeForHtml(formatJson(toJsonValue(value, context), '  '));
const rawJson: Writer = (value, context) => escapeLineEnds(formatJson(toJsonValue(value, context)));
const yaml: Writer = (value, context) => formatFoldedYaml(toJsonValue(value, context), lineWidth).replace(/\n$/, '');

const prettyYaml: Writer = (value, context) => formatPrettyYaml(toJsonValue(value, context)).replace(/\n$/, '');

/** Helm's functions to encode and decode JSON, YAML and TOML. */
export const formatFunctions: Library = {
  toJson: writing(json),
  mustToJson: writingStrictly(json),
  toPrettyJson: writing(prettyJson),
  mustToPrettyJson: writingStrictly(prettyJson),
  toRawJson: writingStrictly(rawJson),
  mustToRawJson: writingStrictly(rawJson),
  toYaml: writing(yaml),
  mustToYaml: writingStrictly(yaml),
  toYamlPretty: writing(prettyYaml),
  toToml: define(any, ([value], context) => {
    if (value === undefined || value === null) {
      throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
    }
    try {
      return bounded(formatToml(value, context), context);
    } catch (error) {
      if (error instanceof FunctionError) return error.message;
      throw error;
    }
  }),
  fromToml: define('string', ([source], { budget }) => {
    budget.spend(1 + (text(source).length >> 2));
    try {
      return parseToml(text(source));
    } catch (error) {
      if (error instanceof FunctionError) return new Map([['Error', error.message]]);
      throw error;
    }
  }),
  fromJson: define('string', ([source], context) => readDict(source, 'map', readJson, context)),
  fromJsonArray: define('string', ([source], context) => readDict(source, 'list', readJson, context)),
  mustFromJson: define('string', ([source], context) => {
    const read = readJson(text(source), context);
    if ('problem' in read) throw new FunctionError(read.problem);
    return toTemplateValue(read.value);
  }),
  fromYaml: define('string', ([source], context) => readDict(source, 'map', readYaml, context)),
  fromYamlArray: define('string', ([source], context) => readDict(source, 'list', readYaml, context)),
};

type Read = { readonly value: JsonValue } | { readonly problem: string };

function readJson(source: string, { budget }: CallContext): Read {
  budget.spend(1 + (source.length >> 4));
  try {
    const value = JSON.parse(source) as JsonValue;
    return isTooDeep(value) ? { problem: 'exceeded max depth' } : { value };
  } catch {
    return { problem: jsonProblem(source) };
  }
}

/** Returns Go's error for common cases of invalid JSON. */
function jsonProblem(source: string): string {
  const start = source.trimStart();
  if (start === '') return 'unexpected end of JSON input';
  const first = start.charAt(0);
  if (!/[[{"\-0-9tfn]/.test(first)) return `invalid character '${first}' looking for beginning of value`;
  return 'unexpected end of JSON input';
}

function readYaml(source: string, { budget }: CallContext): Read {
  budget.spend(1 + (source.length >> 2));
  try {
    return { value: parseYaml(source, { largeIntegers: 'keep' }).value };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: `error converting YAML to JSON: ${message}` };
  }
}

function isTooDeep(value: JsonValue, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > 200 || Object.values(value).some((member) => member !== undefined && isTooDeep(member, depth + 1));
}

/** Helm returns the error in place of the value: under the key `Error`, or as the only item. */
function readDict(
  source: Value,
  wanted: 'map' | 'list',
  read: (source: string, context: CallContext) => Read,
  context: CallContext,
): Value {
  const result = read(text(source), context);
  const problem = (message: string): Value => (wanted === 'map' ? new Map([['Error', message]]) : [message]);
  if ('problem' in result) return problem(result.problem);
  const value = toTemplateValue(result.value);
  if (value === null || value === undefined) return wanted === 'map' ? new Map() : [];
  if (wanted === 'map' ? isMap(value) : isList(value)) return value;
  const prefix = read === readYaml ? 'error unmarshaling JSON: while decoding JSON: ' : '';
  const into = wanted === 'map' ? 'map[string]interface {}' : '[]interface {}';
  return problem(`${prefix}json: cannot unmarshal ${jsonKind(value)} into Go value of type ${into}`);
}

function jsonKind(value: Value): string {
  if (isMap(value)) return 'object';
  if (isList(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
