import type { ClassVariableStatus, Topology, TopologyVariable, VariableDefinition } from '../../../api/index.ts';
import {
  applySchemaDefaults,
  clone,
  type FieldError,
  fieldError,
  type JsonObject,
  type JsonValue,
  pruneValue,
  validateCustomResource,
} from '../../../machinery/index.ts';
import { unwrapPath, wrapped, wrappedSchema } from './schema.ts';

/** Definitions of variables that a Cluster may set. */
export type Definitions = readonly ClassVariableStatus[];

/** Sets variable defaults in a topology, in place. Invalid values are left for validation. */
export function defaultVariables(topology: Topology, definitions: Definitions): void {
  const variables = defaulted(topology.variables ?? [], definitions, { create: true });
  if (variables.length > 0) topology.variables = variables;
  for (const part of overridden(topology)) {
    const overrides = part.variables?.overrides;
    if (overrides) part.variables = { overrides: defaulted(overrides, definitions, { create: false }) };
  }
}

interface Overridable {
  variables?: { overrides?: TopologyVariable[] };
}

function overridden({ controlPlane, workers }: Topology): Overridable[] {
  return [
    ...(controlPlane ? [controlPlane] : []),
    ...(workers?.machineDeployments ?? []),
    ...(workers?.machinePools ?? []),
  ];
}

function defaulted(
  values: readonly TopologyVariable[],
  definitions: Definitions,
  { create }: { create: boolean },
): TopologyVariable[] {
  const byName = new Map(values.map((variable) => [variable.name, variable]));
  const result = values.map((variable) => {
    const definition = definitionOf(definitions, variable.name);
    return definition ? { ...variable, value: withDefaults(variable.value, definition) ?? variable.value } : variable;
  });
  if (!create) return result;
  for (const { name } of definitions) {
    const definition = byName.has(name) ? undefined : definitionOf(definitions, name);
    const value = definition && withDefaults(undefined, definition);
    if (value !== undefined) result.push({ name, value });
  }
  return result;
}

/** Returns the definition of a variable; undefined if several definitions conflict. */
function definitionOf(definitions: Definitions, name: string): VariableDefinition | undefined {
  const found = definitions.find((candidate) => candidate.name === name);
  return found?.definitionsConflict === true ? undefined : found?.definitions[0];
}

function withDefaults(value: JsonValue | undefined, { schema }: VariableDefinition): JsonValue | undefined {
  const draft: JsonObject = value === undefined ? {} : { [wrapped]: clone(value) };
  applySchemaDefaults(draft, wrappedSchema(schema.openAPIV3Schema));
  return draft[wrapped];
}

export interface ValidateOptions {
  /** the topology before an update, for rules with oldSelf */
  old?: Topology | undefined;
  /** path of the topology */
  path?: string;
}

export function validateVariables(
  topology: Topology,
  definitions: Definitions,
  { old, path = 'spec.topology' }: ValidateOptions = {},
): FieldError[] {
  const errors = validateValues(topology.variables ?? [], definitions, {
    path: `${path}.variables`,
    old: old?.variables,
    required: true,
  });
  const overrides = (part: Overridable | undefined, before: Overridable | undefined, at: string): void => {
    const values = part?.variables?.overrides;
    if (!values) return;
    const options = { path: `${at}.variables.overrides`, old: before?.variables?.overrides, required: false };
    errors.push(...validateValues(values, definitions, options));
  };
  overrides(topology.controlPlane, old?.controlPlane, `${path}.controlPlane`);
  for (const kind of ['machineDeployments', 'machinePools'] as const) {
    for (const worker of topology.workers?.[kind] ?? []) {
      const before = old?.workers?.[kind]?.find(({ name }) => name === worker.name);
      overrides(worker, before, `${path}.workers.${kind}[${worker.name}]`);
    }
  }
  return errors;
}

function validateValues(
  values: readonly TopologyVariable[],
  definitions: Definitions,
  options: { path: string; old: readonly TopologyVariable[] | undefined; required: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  const { path } = options;
  const given = new Set(values.map(({ name }) => name));
  if (options.required) {
    for (const { name, definitions: all } of definitions) {
      if (given.has(name) || !all.some(({ required }) => required)) continue;
      errors.push(fieldError.required(`${path}[${name}]`, `required variable with name "${name}" must be defined`));
    }
  }
  for (const { name, value } of values) {
    const at = `${path}[${name}]`;
    const found = definitions.find((candidate) => candidate.name === name);
    if (!found) {
      const known = definitions.map((candidate) => candidate.name);
      const list = known.length === 0 ? 'the class has no variables' : `the class has: ${known.join(', ')}`;
      errors.push(fieldError.invalid(at, name, `no definitions found for variable "${name}"; ${list}`));
      continue;
    }
    if (found.definitionsConflict === true) {
      const from = found.definitions.map((definition) => definition.from).join(', ');
      const detail = `variable "${name}" is defined differently by ${from}: the ClusterClass must be corrected`;
      errors.push(fieldError.invalid(at, name, detail));
      continue;
    }
    const old = options.old?.find((candidate) => candidate.name === name)?.value;
    const [definition] = found.definitions;
    if (definition) errors.push(...validateValue(value, definition, `${at}.value`, old));
  }
  return errors;
}

function validateValue(
  value: JsonValue,
  { schema }: VariableDefinition,
  path: string,
  old: JsonValue | undefined,
): FieldError[] {
  const whole = wrappedSchema(schema.openAPIV3Schema);
  const object: JsonObject = { [wrapped]: value };
  const pruned = clone(object);
  const unknown = pruneValue(pruned, whole);
  const errors: FieldError[] = unknown.map((field) =>
    fieldError.invalid(unwrapPath(field, path), value, 'field is not defined in the schema of the variable'),
  );
  for (const error of validateCustomResource(object, whole, old === undefined ? undefined : { [wrapped]: old })) {
    errors.push({ ...error, field: unwrapPath(error.field, path) });
  }
  return errors;
}
