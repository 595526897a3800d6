import { coreTypeNameOf } from '../../src/api/index.ts';
import type { Schema } from '../../src/machinery/index.ts';

/** A row of a version's table. */
export interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  /** default, limits, values and rules */
  readonly rules: string;
  readonly description: string;
}

/** Lists every field below a schema, parents first. Types of Kubernetes are named but not expanded. */
export function fieldsOf(schema: Schema, path = ''): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (path === '' && ['apiVersion', 'kind', 'metadata'].includes(name)) return [];
    return [
      {
        path: at,
        type: typeOf(property),
        required: schema.required?.includes(name) ?? false,
        rules: rulesOf(property).join('; '),
        description: property.description ?? '',
      },
      ...below(property, at),
    ];
  });
}

function isConditions({ items }: Schema): boolean {
  return ['type', 'status', 'lastTransitionTime'].every((name) => items?.properties?.[name] !== undefined);
}

function below(schema: Schema, at: string): FieldRow[] {
  if (isConditions(schema)) return [];
  if (coreTypeNameOf(schema) !== undefined) return [];
  if (schema.items !== undefined) return below(schema.items, `${at}[]`);
  if (typeof schema.additionalProperties === 'object') return below(schema.additionalProperties, `${at}.*`);
  return fieldsOf(schema, at);
}

function typeOf(schema: Schema): string {
  const core = coreTypeNameOf(schema);
  if (core !== undefined) return `${core} of Kubernetes`;
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (isConditions(schema)) return 'list of conditions';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `map of ${typeOf(schema.additionalProperties)}`;
  const { type, format } = schema;
  if (type === undefined) return 'any';
  return format === undefined ? type : `${type} (${format})`;
}

/** Longer patterns do not help readers. They are in the schema and in validation errors. */
const longestPattern = 40;

const json = (value: unknown): string => `\`${JSON.stringify(value)}\``;

function rulesOf(schema: Schema): string[] {
  const rules: string[] = [];
  const bounds = (low: number | undefined, high: number | undefined, unit: string): void => {
    if (low !== undefined && high !== undefined) rules.push(`${low} to ${high}${unit}`);
    else if (low !== undefined) rules.push(`at least ${low}${unit}`);
    else if (high !== undefined) rules.push(`at most ${high}${unit}`);
  };
  if (schema.default !== undefined) rules.push(`default ${json(schema.default)}`);
  if (schema.enum !== undefined) rules.push(`one of ${schema.enum.map(json).join(', ')}`);
  bounds(schema.minimum, schema.maximum, '');
  bounds(schema.minLength, schema.maxLength, ' characters');
  bounds(schema.minItems, schema.maxItems, ' items');
  bounds(schema.minProperties, schema.maxProperties, ' fields');
  if (schema.pattern !== undefined) {
    rules.push(schema.pattern.length > longestPattern ? 'matches a pattern' : `matches \`${schema.pattern}\``);
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) rules.push('free form');
  if (schema['x-kubernetes-list-type'] === 'set') rules.push('no duplicates');
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys !== undefined) rules.push(`unique by ${keys.join(', ')}`);
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
    rules.push(rule === 'self == oldSelf' ? 'immutable' : (message ?? `\`${rule}\``));
  }
  if (schema.items !== undefined) rules.push(...rulesOf(schema.items).map((rule) => `each: ${rule}`));
  return rules;
}
