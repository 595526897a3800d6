import type { DiscoveredHandler, HookName, HookPatch, HookResponses, UpgradeStep } from '../../../api/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import { HookError } from '../../shared/index.ts';

// Parses JSON responses of extensions; errors name the invalid field.

/** Limit of an extension's message, so that it fits into a condition with other text. */
const maxMessage = 2048;

/** Parses a hook response. Throws HookError for `status: Failure` and for invalid responses. */
export function parseAnswer<H extends HookName>(hook: H, answer: JsonValue): HookResponses[H] {
  if (!isJsonObject(answer)) throw unclear('the answer is not an object');
  const message = shortText(answer['message']);
  const { status } = answer;
  if (status === 'Failure') throw new HookError(`failed${message === undefined ? '' : `: ${message}`}`);
  if (status !== 'Success') {
    throw unclear(`status must be Success or Failure, not ${JSON.stringify(status) ?? 'absent'}`);
  }
  const parse: (answer: JsonObject) => object = parsers[hook];
  // `parse` is the parser of this hook, so its result has the right type
  return { ...(message !== undefined && { message }), ...parse(answer) } as HookResponses[H];
}

const unclear = (text: string): HookError => new HookError(`answered what cannot be understood: ${text}`);

type Parsers = { readonly [H in HookName]: (answer: JsonObject) => HookResponses[H] };

const retry = (answer: JsonObject): { retryAfterSeconds?: number } => {
  const seconds = answer['retryAfterSeconds'];
  if (seconds === undefined || seconds === null) return {};
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > 2 ** 31 - 1) {
    throw unclear(`retryAfterSeconds must be a whole number, not ${JSON.stringify(seconds)}`);
  }
  return { retryAfterSeconds: seconds };
};
const nothing = (): Record<never, never> => ({});

const parsers: Parsers = {
  Discovery: ({ handlers }) => ({ handlers: list(handlers, 'handlers', handler) }),
  GeneratePatches: ({ items }) => ({
    items: list(items, 'items', (item, path) => {
      const { patchType, patch } = patchOf(item, path);
      if (patchType === undefined || patch === undefined) throw unclear(`${path} has no patchType or no patch`);
      return { uid: text(item['uid'], `${path}.uid`), patchType, patch };
    }),
  }),
  ValidateTopology: nothing,
  DiscoverVariables: ({ variables }) => ({ variables: list(variables, 'variables', variable) }),
  GenerateUpgradePlan: ({ controlPlaneUpgrades, workersUpgrades }) => ({
    controlPlaneUpgrades: list(controlPlaneUpgrades, 'controlPlaneUpgrades', step),
    workersUpgrades: list(workersUpgrades, 'workersUpgrades', step),
  }),
  BeforeClusterCreate: retry,
  AfterControlPlaneInitialized: nothing,
  BeforeClusterUpgrade: retry,
  BeforeControlPlaneUpgrade: retry,
  AfterControlPlaneUpgrade: retry,
  BeforeWorkersUpgrade: retry,
  AfterWorkersUpgrade: retry,
  AfterClusterUpgrade: retry,
  BeforeClusterDelete: retry,
  CanUpdateMachine: (answer) => patches(answer, ['machinePatch', 'infrastructureMachinePatch', 'bootstrapConfigPatch']),
  CanUpdateMachineSet: (answer) =>
    patches(answer, ['machineSetPatch', 'infrastructureMachineTemplatePatch', 'bootstrapConfigTemplatePatch']),
  UpdateMachine: retry,
};

/** hook names that a DiscoveryResponse may contain */
export const hookNames: ReadonlySet<string> = new Set(Object.keys(parsers).filter((name) => name !== 'Discovery'));

function list<T>(value: JsonValue | undefined, path: string, parse: (item: JsonObject, path: string) => T): T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw unclear(`${path} must be a list`);
  return value.map((item, index) => {
    const at = `${path}[${index}]`;
    if (!isJsonObject(item)) throw unclear(`${at} must be an object`);
    return parse(item, at);
  });
}

function text(value: JsonValue | undefined, path: string): string {
  if (typeof value !== 'string' || value === '') throw unclear(`${path} must be a text`);
  return value;
}

function shortText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length > maxMessage ? `${value.slice(0, maxMessage)}…` : value;
}

const step = (item: JsonObject, path: string): UpgradeStep => ({ version: text(item['version'], `${path}.version`) });

/** The schema itself is checked with the class. */
function variable(item: JsonObject, path: string): JsonObject {
  const { required, schema } = item;
  text(item['name'], `${path}.name`);
  if (required !== undefined && required !== null && typeof required !== 'boolean') {
    throw unclear(`${path}.required must be true or false`);
  }
  if (!isJsonObject(schema)) throw unclear(`${path}.schema must be an object`);
  if (!isJsonObject(schema['openAPIV3Schema'])) throw unclear(`${path}.schema.openAPIV3Schema must be an object`);
  return { ...item, required: required === true };
}

function handler(item: JsonObject, path: string): DiscoveredHandler {
  const { requestHook, timeoutSeconds, failurePolicy } = item;
  if (!isJsonObject(requestHook)) throw unclear(`${path}.requestHook must be an object`);
  if (timeoutSeconds !== undefined && timeoutSeconds !== null && typeof timeoutSeconds !== 'number') {
    throw unclear(`${path}.timeoutSeconds must be a number`);
  }
  if (failurePolicy !== undefined && failurePolicy !== null && failurePolicy !== 'Ignore' && failurePolicy !== 'Fail') {
    throw unclear(`${path}.failurePolicy must be "Ignore" or "Fail"`);
  }
  return {
    name: text(item['name'], `${path}.name`),
    requestHook: {
      apiVersion: text(requestHook['apiVersion'], `${path}.requestHook.apiVersion`),
      hook: text(requestHook['hook'], `${path}.requestHook.hook`),
    },
    ...(typeof timeoutSeconds === 'number' && { timeoutSeconds }),
    ...(typeof failurePolicy === 'string' && { failurePolicy }),
  };
}

function patches<const N extends string>(answer: JsonObject, names: readonly N[]): { [K in N]?: HookPatch } {
  const found: { [K in N]?: HookPatch } = {};
  for (const name of names) {
    const value = answer[name];
    if (value === undefined || value === null) continue;
    if (!isJsonObject(value)) throw unclear(`${name} must be an object`);
    found[name] = patchOf(value, name);
  }
  return found;
}

function patchOf({ patchType, patch }: JsonObject, path: string): HookPatch {
  const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null && value !== '';
  if (!isSet(patchType) && !isSet(patch)) return {};
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    throw unclear(`${path}.patchType must be JSONPatch or JSONMergePatch`);
  }
  if (typeof patch !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(patch)) throw unclear(`${path}.patch is no base64`);
  return { patchType, patch };
}
