import { isCelIdentifier, isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import { readMapping, readText } from './documents.ts';
import { StackReleaseError } from './release-error.ts';

/** An object of the workload cluster that a condition refers to. */
export interface WatchedObject {
  /** its variable in the expression */
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Condition a stage waits for: a CEL expression on objects of the workload cluster. */
export interface StageCondition {
  readonly objects: readonly WatchedObject[];
  readonly expression: string;
}

export type StageAction = 'apply' | 'delete';

export interface Stage {
  /** also the directory of its chart */
  readonly name: string;
  readonly action: StageAction;
  readonly before: StageCondition | undefined;
  readonly after: StageCondition | undefined;
}

/** Hooks with stages. */
export const stageHooks = ['AfterControlPlaneInitialized', 'BeforeClusterUpgrade', 'AfterClusterUpgrade'] as const;
export type StageHook = (typeof stageHooks)[number];

export type StagesByHook = ReadonlyMap<StageHook, readonly Stage[]>;

export const addonConfigFile = 'clusteraddon.yaml';

const maxStages = 100;
const maxObjects = 32;

/** Parses clusteraddon.yaml: the stages of each hook, in order. */
export function readAddonConfig(text: string): StagesByHook {
  const mapping = readMapping(addonConfigFile, text);
  const apiVersion = readText(addonConfigFile, mapping, 'apiVersion');
  if (apiVersion !== 'clusteraddonconfig.x-k8s.io/v1alpha1') {
    throw new StackReleaseError(
      `${addonConfigFile}: apiVersion is ${apiVersion ?? 'missing'}, must be clusteraddonconfig.x-k8s.io/v1alpha1`,
    );
  }
  const stages = mapping['addonStages'];
  if (!isJsonObject(stages)) throw new StackReleaseError(`${addonConfigFile}: addonStages must be a mapping`);
  const hooks = new Map<StageHook, readonly Stage[]>();
  for (const [hook, list] of Object.entries(stages)) {
    const known = stageHooks.find((name) => name === hook);
    const path = `addonStages.${hook}`;
    if (known === undefined) throw wrong(path, `is no hook with stages; there are ${stageHooks.join(', ')}`);
    hooks.set(known, readStages(list, path));
  }
  return hooks;
}

const wrong = (path: string, problem: string): StackReleaseError =>
  new StackReleaseError(`${addonConfigFile}: ${path} ${problem}`);

function readStages(list: JsonValue | undefined, path: string): Stage[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) throw wrong(path, 'must be a list');
  if (list.length > maxStages) throw wrong(path, `has more than ${maxStages} stages`);
  const stages = list.map((entry, i) => readStage(entry, `${path}[${i}]`));
  const seen = new Set<string>();
  for (const { name, action } of stages) {
    // progress is tracked by name and action, so the pair must be unique
    if (seen.has(`${action} ${name}`)) throw wrong(path, `has two stages that ${action} ${name}`);
    seen.add(`${action} ${name}`);
  }
  return stages;
}

function readStage(entry: JsonValue, path: string): Stage {
  if (!isJsonObject(entry)) throw wrong(path, 'must be a mapping');
  const name = readText(addonConfigFile, entry, 'name');
  if (name === undefined) throw wrong(`${path}.name`, 'is missing');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) throw wrong(`${path}.name`, `${name} is no name of a directory`);
  const action = readText(addonConfigFile, entry, 'action');
  if (action !== 'apply' && action !== 'delete') throw wrong(`${path}.action`, 'must be apply or delete');
  return {
    name,
    action,
    before: readCondition(entry, 'waitForPreCondition', path),
    after: readCondition(entry, 'waitForPostCondition', path),
  };
}

function readCondition(stage: JsonObject, field: string, path: string): StageCondition | undefined {
  const value = stage[field];
  if (value === undefined || value === null) return undefined;
  const at = `${path}.${field}`;
  if (!isJsonObject(value)) throw wrong(at, 'must be a mapping');
  const expression = readText(addonConfigFile, value, 'conditions')?.trim();
  const list = value['objects'] ?? [];
  if (!Array.isArray(list)) throw wrong(`${at}.objects`, 'must be a list');
  if (list.length > maxObjects) throw wrong(`${at}.objects`, `has more than ${maxObjects} entries`);
  if (expression === undefined || expression === '') {
    if (list.length === 0) return undefined;
    throw wrong(`${at}.conditions`, 'is missing');
  }
  return { objects: list.map((entry, i) => readObject(entry, `${at}.objects[${i}]`)), expression };
}

function readObject(entry: JsonValue, path: string): WatchedObject {
  if (!isJsonObject(entry)) throw wrong(path, 'must be a mapping');
  const needed = (field: string): string => {
    const text = readText(addonConfigFile, entry, field);
    if (text === undefined) throw wrong(`${path}.${field}`, 'is missing');
    return text;
  };
  const key = needed('key');
  if (!isCelIdentifier(key)) throw wrong(`${path}.key`, `${key} is no name in an expression`);
  return {
    key,
    apiVersion: needed('apiVersion'),
    kind: needed('kind'),
    name: needed('name'),
    namespace: readText(addonConfigFile, entry, 'namespace'),
  };
}
