import { asJson, isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../../machinery/index.ts';

/**
 * What a live object has in the fields that a desired one names. Servers write some values in their own way (quantities, defaults
 * inside of lists), so what is there now is compared with what our own write led to, not with what was written.
 */
export function projectionOf(live: KubeObject, desired: KubeObject): string {
  return JSON.stringify(project(asJson(live), asJson(desired)) ?? null);
}

function project(live: JsonValue | undefined, desired: JsonValue | undefined): JsonValue | undefined {
  if (isJsonObject(desired) && isJsonObject(live)) {
    const picked: JsonObject = {};
    for (const key of Object.keys(desired).sort()) {
      const value = project(live[key], desired[key]);
      if (value !== undefined) picked[key] = value;
    }
    return picked;
  }
  if (Array.isArray(desired) && Array.isArray(live) && desired.length === live.length) {
    return live.map((entry, index) => project(entry, desired[index]) ?? null);
  }
  return live;
}
