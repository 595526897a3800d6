import { clone, isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { isMap, type Value, type ValueMap } from '../values/index.ts';
import { type ChartInstance, copyMap } from './instance.ts';

const globals = 'global';

/** Nulls delete the value they override, or stay for a later step. */
export type Nulls = 'delete' | 'keep';

/**
 * Merges values files: maps are merged, everything else is replaced. Nulls stay, because they delete defaults of the
 * chart when it is rendered.
 */
export function mergeValues(base: JsonObject, over: JsonObject): JsonObject {
  const result: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const below = result[key];
    result[key] = isJsonObject(value) && isJsonObject(below) ? mergeValues(below, value) : clone(value);
  }
  return result;
}

/**
 * Computes the values of a chart and its subcharts: the given values, then the chart's, then globals and defaults of
 * subcharts.
 */
export function coalesceValues(chart: ChartInstance, given: ValueMap, nulls: Nulls, warn: Warn): ValueMap {
  return new Coalescing(nulls, warn).chart(chart, copyMap(given), '');
}

/** Adds keys of `from` that `into` lacks. A null in `into` counts as present. */
export function coalesceTables(into: ValueMap, from: ValueMap, nulls: Nulls, warn: Warn): ValueMap {
  new Coalescing(nulls, warn).tables(into, from, '', nulls);
  return into;
}

export type Warn = (message: string) => void;

const joined = (prefix: string, key: string): string => (prefix === '' ? key : `${prefix}.${key}`);

class Coalescing {
  readonly #nulls: Nulls;
  readonly #warn: Warn;

  constructor(nulls: Nulls, warn: Warn) {
    this.#nulls = nulls;
    this.#warn = warn;
  }

  chart(chart: ChartInstance, into: ValueMap, prefix: string): ValueMap {
    this.#defaults(chart, into, prefix);
    for (const subchart of chart.subcharts) {
      let own = into.get(subchart.name);
      if (!into.has(subchart.name)) {
        own = new Map();
        into.set(subchart.name, own);
      }
      if (!isMap(own)) {
        throw new TemplateError(
          `values of subchart ${subchart.name} of ${chart.path} are no mapping: give ${joined(prefix, subchart.name)} a mapping or leave it out`,
        );
      }
      const inner = joined(prefix, chart.name);
      this.#globals(own, into, inner);
      this.chart(subchart, own, inner);
    }
    return into;
  }

  #globals(into: ValueMap, from: ValueMap, prefix: string): void {
    const target = into.has(globals) ? into.get(globals) : new Map<string, Value>();
    if (!isMap(target)) return this.#warn(`skipping globals because destination ${globals} is not a table.`);
    const source = from.has(globals) ? from.get(globals) : new Map<string, Value>();
    if (!isMap(source)) return this.#warn(`skipping globals because source ${globals} is not a table.`);
    for (const [key, value] of source) {
      if (isMap(value)) {
        // Shallow copy: nested values are shared between charts, as in Helm.
        const copy: ValueMap = new Map(value);
        const existing = target.get(key);
        if (!target.has(key)) target.set(key, copy);
        else if (isMap(existing)) {
          this.tables(copy, existing, joined(prefix, key), 'keep');
          target.set(key, copy);
        } else this.#warn(`Conflict: cannot merge map onto non-map for ${JSON.stringify(key)}. Skipping.`);
      } else if (isMap(target.get(key))) this.#warn(`key ${key} is table. Skipping`);
      else target.set(key, value);
    }
    into.set(globals, target);
  }

  #defaults(chart: ChartInstance, into: ValueMap, prefix: string): void {
    const inner = joined(prefix, chart.name);
    const isSubchart = (key: string): boolean => chart.subcharts.some(({ name }) => name === key);
    for (const [key, value] of chart.values()) {
      if (!into.has(key)) {
        into.set(key, value);
        continue;
      }
      const existing = into.get(key);
      if (existing === null && this.#nulls === 'delete') into.delete(key);
      else if (isMap(existing)) {
        if (isMap(value)) {
          this.tables(existing, value, joined(inner, key), isSubchart(key) ? 'keep' : this.#nulls);
        } else if (value !== null) this.#warn(`skipped value for ${inner}.${key}: Not a table.`);
      }
    }
  }

  tables(into: ValueMap, from: ValueMap, prefix: string, nulls: Nulls): void {
    for (const [key, value] of into) if (value === null) from.set(key, null);
    for (const [key, value] of from) {
      const existing = into.get(key);
      if (existing === null && nulls === 'delete') into.delete(key);
      else if (!into.has(key)) into.set(key, value);
      else if (isMap(value)) {
        if (isMap(existing)) this.tables(existing, value, joined(prefix, key), nulls);
        else this.#warn(`cannot overwrite table with non table for ${joined(prefix, key)}`);
      } else if (isMap(existing) && value !== null) {
        this.#warn(`destination for ${joined(prefix, key)} is a table. Ignoring non-table value`);
      }
    }
  }
}
