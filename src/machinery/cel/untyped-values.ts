import type { JsonObject, JsonValue } from '../json/value.ts';
import { CelList, type CelMap, type CelValue } from './values.ts';

/** Converts JSON data without a schema to CEL values. Whole numbers become ints, as Kubernetes decodes them. */
export function untypedToCel(value: JsonValue): CelValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? new CelList(value.map(untypedToCel)) : new UntypedMap(value);
}

/** An object whose members are converted lazily. */
class UntypedMap implements CelMap {
  readonly isMap = true;
  readonly #raw: JsonObject;

  constructor(raw: JsonObject) {
    this.#raw = raw;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#raw, key)) return undefined;
    const value = this.#raw[key];
    return value === undefined ? undefined : untypedToCel(value);
  }

  keys(): CelValue[] {
    return Object.keys(this.#raw).filter((key) => this.#raw[key] !== undefined);
  }
}
