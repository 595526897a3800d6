import { replicasVariableAnnotation, type Topology, type TopologyVariable } from '../../api/index.ts';
import { CapstanError, type JsonValue, jsonText, parseJson } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { classOf, hasUnknownVariables, variablesOf } from '../topology/class-of.ts';
import { type Change, editTopology, printChanges } from '../topology/edit-cluster.ts';
import { machineDeploymentOf } from '../topology/machine-deployment.ts';

export interface SetVariableOptions extends ConnectionOptions {
  machineDeployment?: string;
  controlPlane?: boolean;
  dryRun?: boolean;
}

/** A `NAME=VALUE` assignment, or `NAME-` to remove the variable. */
interface Assignment {
  name: string;
  /** undefined: remove the variable */
  text: string | undefined;
}

/** Sets variables of a topology, or overrides of its control plane or of one machine deployment, entry by entry. */
export async function setVariable(
  options: SetVariableOptions,
  context: CommandContext,
  name: string,
  words: readonly string[],
): Promise<number> {
  if (options.controlPlane === true && options.machineDeployment !== undefined) {
    throw new CapstanError('CAP_USAGE', 'name the control plane or a machine deployment, not both');
  }
  const assignments = words.map(assignmentOf);
  const dryRun = options.dryRun ?? false;
  return await withConnection(options, context, async (connection) => {
    const { signal } = context;
    const changes = await editTopology(
      connection,
      name,
      async (topology) => {
        const known = await classOf(connection, topology, signal);
        const schemas = known && variablesOf(known);
        const list = listOf(topology, options);
        const made = assignments.map(({ name: variable, text }) => {
          const schema = schemas?.get(variable);
          if (known && schemas && !schema && text !== undefined && !hasUnknownVariables(known)) {
            throw unknownVariable(variable, topology.classRef.name, [...schemas.keys()]);
          }
          return assign(list, variable, text === undefined ? undefined : parseValue(text, schema?.type));
        });
        tidy(topology, options, list);
        const replicas = known?.metadata.annotations?.[replicasVariableAnnotation];
        return [...made, ...(replicas === undefined ? [] : followReplicas(topology, replicas, assignments))];
      },
      { dryRun, signal },
    );
    printChanges(context, name, changes, dryRun);
    return 0;
  });
}

function assignmentOf(word: string): Assignment {
  const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (name !== undefined && text !== undefined) return { name, text };
  const removed = /^([^=]+)-$/.exec(word)?.[1];
  if (removed !== undefined) return { name: removed, text: undefined };
  throw new CapstanError('CAP_USAGE', `"${word}" is not an assignment`, {
    hint: 'write NAME=VALUE to set a variable, NAME- to remove it',
  });
}

/** Parses a value as JSON. Invalid JSON is a string, and so is any value if the class requires a string. */
function parseValue(text: string, type: string | undefined): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return text;
  }
  return type === 'string' && typeof value !== 'string' ? text : value;
}

function listOf(topology: Topology, { controlPlane, machineDeployment }: SetVariableOptions): TopologyVariable[] {
  if (machineDeployment !== undefined) {
    return [...(machineDeploymentOf(topology, machineDeployment).variables?.overrides ?? [])];
  }
  return [...((controlPlane ? topology.controlPlane?.variables?.overrides : topology.variables) ?? [])];
}

/** Writes an edited list back; an empty list is removed. */
function tidy(
  topology: Topology,
  { controlPlane, machineDeployment }: SetVariableOptions,
  list: TopologyVariable[],
): void {
  if (machineDeployment === undefined && !controlPlane) {
    if (list.length > 0) topology.variables = list;
    else delete topology.variables;
    return;
  }
  const { variables: _, ...controlPlaneRest } = topology.controlPlane ?? {};
  const variables = list.length > 0 ? { variables: { overrides: list } } : {};
  if (machineDeployment === undefined) {
    topology.controlPlane = { ...controlPlaneRest, ...variables };
    return;
  }
  const entry = machineDeploymentOf(topology, machineDeployment);
  delete entry.variables;
  Object.assign(entry, variables);
}

function assign(list: TopologyVariable[], name: string, value: JsonValue | undefined): Change {
  const index = list.findIndex((entry) => entry.name === name);
  const old = list[index];
  const from = old && jsonText(old.value);
  if (value === undefined) {
    if (index >= 0) list.splice(index, 1);
  } else if (index < 0) list.push({ name, value });
  else list[index] = { name, value };
  return { what: `variable ${name}`, from, to: value === undefined ? undefined : jsonText(value) };
}

/** The variable overrides the replicas field, so the field is updated to the same value. */
function followReplicas(topology: Topology, variable: string, assignments: readonly Assignment[]): Change[] {
  const { controlPlane } = topology;
  const value = topology.variables?.find(({ name }) => name === variable)?.value;
  const isSet = assignments.some(({ name, text }) => name === variable && text !== undefined);
  if (!isSet || controlPlane?.replicas === undefined || typeof value !== 'number') return [];
  const from = String(controlPlane.replicas);
  controlPlane.replicas = value;
  return [{ what: 'controlPlane.replicas', from, to: String(value) }];
}

function unknownVariable(name: string, className: string, known: readonly string[]): CapstanError {
  return new CapstanError('CAP_USAGE', `class "${className}" has no variable "${name}"`, {
    hint: known.length === 0 ? 'it has none at all' : `it has ${[...known].sort().join(', ')}`,
  });
}
