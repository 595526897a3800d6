import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';

/** Members of `over` win; mappings inside are merged likewise. How secure.yaml is laid over clouds.yaml. */
export function mergeDeep(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isJsonObject(value) && isJsonObject(below) ? mergeDeep(below, value) : value;
  }
  return merged;
}

/** Members of `over` win whole, except `auth`, whose members are laid over one by one. */
export function mergeWithAuth(under: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...under, ...over };
  const below = under['auth'];
  const above = over['auth'];
  if (isJsonObject(below) && isJsonObject(above)) merged['auth'] = { ...below, ...above };
  else if (isJsonObject(below) && (above === undefined || above === null)) merged['auth'] = below;
  return merged;
}

/** Numbers that stay numbers; all others are text to OpenStack. */
const numbers: ReadonlySet<string> = new Set(['verbose_level', 'api_timeout']);

/** Dashes in names become underscores and numbers text, at every level. */
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

/** A setting as text; undefined when it is absent, null or not a plain value. */
export function settingText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  // As Python prints them: a password `yes` without quotes is the boolean True.
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : undefined;
}

/** openstacksdk takes only `true` for true; plain readings of no count as no here as well. */
export function settingFlag(value: JsonValue | undefined, { fallback }: { fallback: boolean }): boolean {
  if (typeof value === 'boolean') return value;
  const text = settingText(value)?.toLowerCase();
  if (text === undefined || text === '') return fallback;
  if (['true', 'yes', 'on', '1'].includes(text)) return true;
  return ['false', 'no', 'off', '0'].includes(text) ? false : fallback;
}
