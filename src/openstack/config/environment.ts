import type { JsonObject } from '../../machinery/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that choose among clouds; they describe none. */
const selectors: ReadonlySet<string> = new Set([
  'OS_CLOUD',
  'OS_REGION_NAME',
  'OS_CLIENT_CONFIG_FILE',
  'OS_CLIENT_SECURE_FILE',
  'OS_CLOUD_NAME',
]);

/** Set by test tools of OpenStack itself. */
const foreign = /^OS_(?:TEST|STD|LOG)/;

/** The cloud the OS_* variables describe, as openstacksdk reads them; undefined when they describe none. */
export function cloudFromEnvironment(env: Environment): JsonObject | undefined {
  const cloud: JsonObject = {};
  let describes = false;
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('OS_') || foreign.test(name) || value === undefined) continue;
    if (!selectors.has(name)) describes = true;
    else if (name !== 'OS_REGION_NAME') continue;
    cloud[name.slice('OS_'.length).toLowerCase()] = value;
  }
  return describes ? cloud : undefined;
}
