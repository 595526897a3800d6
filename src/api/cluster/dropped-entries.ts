import {
  asJson,
  asTyped,
  deepEqual,
  type FieldError,
  fieldError,
  type JsonValue,
  jsonText,
  type StrategyContext,
} from '../../machinery/index.ts';
import type { Cluster, MachineDeploymentTopology, Topology, TopologyVariable } from './types.ts';

// Refuses a `kubectl patch` that drops entries of a topology by mistake. Variables and machine deployments are lists,
// and a merge patch replaces a list as a whole. The error contains the command that changes only the intended entry.

/** Default field manager of `kubectl patch`. */
const kubectlPatch = 'kubectl-patch';

/**
 * Validates an update of a Cluster by `kubectl patch`. Variables that the patch omits get the defaults of their class,
 * so an omitted variable whose value is its default is not a loss.
 */
export function validateDroppedEntries(
  cluster: Cluster,
  old: Cluster,
  { patchedBy, written }: Pick<StrategyContext, 'patchedBy' | 'written'>,
): FieldError[] {
  const before = old.spec?.topology;
  const after = cluster.spec?.topology;
  const patched = written ? asTyped<Cluster>(written).spec?.topology : after;
  if (patchedBy !== kubectlPatch || !before || !after || !patched) return [];
  const errors: FieldError[] = [];
  const commands = commandsFor(cluster, before, patched);
  for (const { path, what, dropped } of lossesOf({ before, patched, after })) {
    if (dropped.length === 0) continue;
    errors.push(
      fieldError.forbidden(path, `this patch replaces the list and would drop ${what} ${listed(dropped)}${commands}`),
    );
  }
  return errors;
}

/** A topology before a patch, as the patch left it, and as it would be stored. */
interface Patched<T> {
  readonly before: T;
  readonly patched: T;
  readonly after: T;
}

interface Loss {
  path: string;
  what: string;
  dropped: string[];
}

const topologyPath = 'spec.topology';
const deploymentsPath = `${topologyPath}.workers.machineDeployments`;

function lossesOf({ before, patched, after }: Patched<Topology>): Loss[] {
  const overridesOf = ({ controlPlane }: Topology): TopologyVariable[] => controlPlane?.variables?.overrides ?? [];
  const losses: Loss[] = [
    {
      path: `${topologyPath}.variables`,
      what: 'the variables',
      dropped: lostVariables({
        before: before.variables ?? [],
        patched: patched.variables ?? [],
        after: after.variables ?? [],
      }),
    },
    {
      path: `${topologyPath}.controlPlane.variables.overrides`,
      what: 'the overrides',
      dropped: lostVariables({
        before: overridesOf(before),
        patched: overridesOf(patched),
        after: overridesOf(after),
      }),
    },
  ];
  const kept = after.workers?.machineDeployments ?? [];
  const gone: string[] = [];
  for (const was of before.workers?.machineDeployments ?? []) {
    const index = kept.findIndex(({ name }) => name === was.name);
    const is = kept[index];
    if (!is) gone.push(was.name);
    else losses.push({ path: `${deploymentsPath}[${index}]`, what: 'the fields', dropped: lostFields(was, is) });
  }
  losses.push({ path: deploymentsPath, what: 'the machine deployments', dropped: gone });
  return losses;
}

function lostVariables({ before, patched, after }: Patched<readonly TopologyVariable[]>): string[] {
  const isNamed = (list: readonly TopologyVariable[], name: string): boolean => list.some((one) => one.name === name);
  return before
    .filter(({ name }) => !isNamed(patched, name))
    .filter((variable) => !after.some((one) => deepEqual(one, variable)))
    .map(({ name }) => name);
}

/** Returns the fields and the names of variable overrides that the new entry lost. */
function lostFields(was: MachineDeploymentTopology, is: MachineDeploymentTopology): string[] {
  const fields = Object.keys(was).filter((field) => field !== 'variables' && !(field in is));
  const overrides = is.variables?.overrides ?? [];
  for (const { name } of was.variables?.overrides ?? []) {
    if (!overrides.some((one) => one.name === name)) fields.push(`variables.overrides ${name}`);
  }
  return fields;
}

/** Maximum number of names in a message, to keep it readable. */
const shown = 8;

function listed(names: readonly string[]): string {
  const more = names.length - shown;
  return names.slice(0, shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

interface Operation {
  op: 'test' | 'add' | 'replace';
  path: string;
  value: JsonValue;
}

/** Builds the commands that make the intended changes and nothing else. */
function commandsFor({ metadata: { name = '', namespace } }: Cluster, before: Topology, after: Topology): string {
  const place = `${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;
  const operations: Operation[] = [];
  const commands: string[] = [];
  const variableChanges = changedEntries(before.variables ?? [], after.variables ?? []);
  for (const { entry, index } of variableChanges) {
    commands.push(`capstan set variable ${place} ${quoted(`${entry.name}=${argumentOf(entry.value)}`)}`);
    operations.push(...variableOperations('/spec/topology/variables', entry, index));
  }
  const controlPlaneOverrides = changedEntries(
    before.controlPlane?.variables?.overrides ?? [],
    after.controlPlane?.variables?.overrides ?? [],
  );
  for (const { entry, index } of controlPlaneOverrides) {
    commands.push(
      `capstan set variable ${place} ${quoted(`${entry.name}=${argumentOf(entry.value)}`)} --control-plane`,
    );
    operations.push(...variableOperations('/spec/topology/controlPlane/variables/overrides', entry, index));
  }
  const deployments = changedEntries(before.workers?.machineDeployments ?? [], after.workers?.machineDeployments ?? []);
  for (const { entry, index, was } of deployments) {
    const list = '/spec/topology/workers/machineDeployments';
    if (!was) {
      operations.push({ op: 'add', path: `${list}/-`, value: asJson(entry) });
      continue;
    }
    if (entry.replicas !== undefined && entry.replicas !== was.replicas) {
      commands.push(`capstan scale cluster ${place} --machine-deployment ${entry.name} --replicas ${entry.replicas}`);
      operations.push({ op: 'test', path: `${list}/${index}/name`, value: entry.name });
      operations.push({ op: 'add', path: `${list}/${index}/replicas`, value: entry.replicas });
    }
  }
  if (operations.length > 0) {
    commands.push(`kubectl patch cluster ${place} --type json -p ${quoted(jsonText(asJson(operations)))}`);
  }
  const instead = commands.length === 0 ? '' : `. To change one entry: ${commands.join(' or: ')}`;
  return `${instead}. To remove entries: kubectl edit cluster ${place}, or kubectl apply`;
}

interface ChangedEntry<T> {
  entry: T;
  /** index in the stored list; -1 for a new entry */
  index: number;
  was: T | undefined;
}

function changedEntries<T extends { name: string }>(before: readonly T[], after: readonly T[]): ChangedEntry<T>[] {
  return after
    .map((entry) => {
      const index = before.findIndex(({ name }) => name === entry.name);
      return { entry, index, was: before[index] };
    })
    .filter(({ entry, was }) => !deepEqual(entry, was));
}

function variableOperations(list: string, { name, value }: TopologyVariable, index: number): Operation[] {
  if (index < 0) return [{ op: 'add', path: `${list}/-`, value: { name, value } }];
  return [
    // The list may have changed meanwhile.
    { op: 'test', path: `${list}/${index}/name`, value: name },
    { op: 'replace', path: `${list}/${index}/value`, value },
  ];
}

/** Formats a value for `capstan set variable`: JSON, or a plain string where it cannot be mistaken for JSON. */
function argumentOf(value: JsonValue): string {
  return typeof value === 'string' && !isJsonText(value) ? value : jsonText(value);
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
