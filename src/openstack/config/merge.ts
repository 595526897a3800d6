import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';

/** Merges mappings deeply; members of `over` win. This is how secure.yaml overrides clouds.yaml. */
export function mergeDeep(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isJsonObject(value) && isJsonObject(below) ? mergeDeep(below, value) : value;
  }
  return merged;
}

/** Merges mappings; members of `over` replace whole values, except `auth`, which is merged by member. */
export function mergeWithAuth(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under, ...over };
  const below = under['auth'];
  const above = over['auth'];
  if (isJsonObject(below) && isJsonObject(above)) merged['auth'] = { ...below, ...above };
  else if (isJsonObject(below) && (above === undefined || above === null)) merged['auth'] = below;
  return merged;
}

/** Settings that stay numbers. OpenStack treats all others as text. */
const numbers: ReadonlySet<string> = new Set(['verbose_level', 'api_timeout']);

/** Replaces dashes in names by underscores and numbers by text, at every level. */
export function normaliseKeys(config: JsonObject): JsonObject {
  const normal: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    const name = key.replaceAll('-', '_');
    normal[name] = normaliseValue(name, value);
  }
  return normal;
}

function normaliseValue(name: string, value: JsonValue | undefined): JsonValue | undefined {
  if (isJsonObject(value)) return normaliseKeys(value);
  return typeof value === 'number' && !numbers.has(name) ? String(value) : value;
}

/** Returns a setting as text; undefined if absent, null or not a scalar. */
export function settingText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  // Formats like Python: an unquoted password `yes` is the boolean True.
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : undefined;
}

/** openstacksdk accepts only `true` as true. Common forms of no count as false here as well. */
export function settingFlag(value: JsonValue | undefined, { fallback }: { fallback: boolean }): boolean {
  if (typeof value === 'boolean') return value;
  const text = settingText(value)?.toLowerCase();
  if (text === undefined || text === '') return fallback;
  if (['true', 'yes', 'on', '1'].includes(text)) return true;
  return ['false', 'no', 'off', '0'].includes(text) ? false : fallback;
}
