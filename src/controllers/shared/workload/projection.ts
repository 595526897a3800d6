import { asJson, isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../../machinery/index.ts';

/**
 * Projects a live object to the fields of the desired one. Servers normalize values (quantities, defaults in lists), so
 * the live object is compared with the result of the last write, not with what was sent.
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
