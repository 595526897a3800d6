import type { JsonObject } from '../../machinery/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that select a cloud but do not describe one. */
const selectors: ReadonlySet<string> = new Set([
  'OS_CLOUD',
  'OS_REGION_NAME',
  'OS_CLIENT_CONFIG_FILE',
  'OS_CLIENT_SECURE_FILE',
  'OS_CLOUD_NAME',
]);

/** Variables of OpenStack's own test tools. */
const foreign = /^OS_(?:TEST|STD|LOG)/;

/** Reads a cloud from the OS_* variables as openstacksdk does; undefined if they describe none. */
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
