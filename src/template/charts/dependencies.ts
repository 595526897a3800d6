import { isJsonObject, must } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { fits } from '../functions/constraint.ts';
import { Version } from '../functions/version.ts';
import { isMap, type Value, type ValueMap } from '../values/index.ts';
import { coalesceTables, coalesceValues, type Warn } from './coalesce.ts';
import { type ChartInstance, copyMap, type DependencyState } from './instance.ts';

/** Removes dependencies disabled by conditions or tags, applies aliases, and imports values of subcharts. */
export function resolveDependencies(root: ChartInstance, given: ValueMap, maxCharts: number, warn: Warn): void {
  enable(root, given, '', { left: maxCharts, max: maxCharts }, warn);
  importValues(root, warn);
}

/** Reports whether a version satisfies a constraint. Invalid ones never do. */
export function isCompatible(constraint: string, version: string): boolean {
  try {
    return fits(constraint, new Version(version));
  } catch {
    return false;
  }
}

interface Count {
  readonly max: number;
  left: number;
}

function enable(chart: ChartInstance, given: ValueMap, path: string, count: Count, warn: Warn): void {
  if (--count.left < 0) throw new TemplateError(`chart has more than ${count.max} subcharts`, { isLimit: true });
  const { dependencies, subcharts } = chart;
  if (dependencies.length === 0) return;
  const isMeant = (dependency: DependencyState, subchart: ChartInstance): boolean =>
    subchart.name === dependency.name && isCompatible(dependency.version, subchart.metadata.version);
  // Subcharts that are not in Chart.yaml are always enabled.
  const chosen = subcharts.filter((subchart) => !dependencies.some((dependency) => isMeant(dependency, subchart)));
  for (const dependency of dependencies) {
    const found = subcharts.find((subchart) => isMeant(dependency, subchart));
    if (found) chosen.push(found.renamed(dependency.alias || found.name));
    if (dependency.alias !== '') dependency.name = dependency.alias;
  }
  chart.adopt(chosen);
  for (const dependency of dependencies) dependency.isEnabled = true;
  const values = coalesceValues(chart, given, 'delete', warn);
  decideByTags(dependencies, values, warn);
  decideByConditions(dependencies, values, path, warn);
  const off = new Set(dependencies.filter(({ isEnabled }) => !isEnabled).map(({ name }) => name));
  const kept = chosen.filter(({ name }) => !off.has(name));
  for (const subchart of kept) enable(subchart, values, `${path}${subchart.name}.`, count, warn);
  chart.dependencies = dependencies.filter(({ name }) => !off.has(name));
  chart.adopt(kept);
}

function decideByTags(dependencies: readonly DependencyState[], values: ValueMap, warn: Warn): void {
  const tags = values.get('tags');
  if (!isMap(tags)) return;
  for (const dependency of dependencies) {
    const set = dependency.tags.filter((tag) => tags.has(tag)).map((tag) => ({ tag, value: tags.get(tag) }));
    for (const { tag, value } of set) {
      if (typeof value !== 'boolean') warn(`Tag '${tag}' for chart ${dependency.name} returned non-bool value`);
    }
    dependency.isEnabled = set.some(({ value }) => value === true) || !set.some(({ value }) => value === false);
  }
}

function decideByConditions(
  dependencies: readonly DependencyState[],
  values: ValueMap,
  path: string,
  warn: Warn,
): void {
  for (const dependency of dependencies) {
    for (const condition of dependency.condition.trim().split(',')) {
      if (condition === '') continue;
      const value = valueAt(values, path + condition);
      if (typeof value === 'boolean') {
        dependency.isEnabled = value;
        break;
      }
      if (value !== undefined) {
        warn(`Condition path '${condition}' for chart ${dependency.name} returned non-bool value`);
      }
    }
  }
}

/** Returns the value at a dotted path; undefined if it is missing or a table. */
function valueAt(values: ValueMap, path: string): Value {
  const keys = path.split('.');
  const last = must(keys.pop(), 'keys.pop()');
  const value = tableAt(values, keys)?.get(last);
  return isMap(value) ? undefined : value;
}

function tableAt(values: ValueMap, keys: readonly string[]): ValueMap | undefined {
  let table: Value = values;
  for (const key of keys) {
    if (!isMap(table)) return undefined;
    table = table.get(key);
  }
  return isMap(table) ? table : undefined;
}

function importValues(chart: ChartInstance, warn: Warn): void {
  for (const subchart of chart.subcharts) importValues(subchart, warn);
  if (chart.dependencies.length === 0) return;
  const values = coalesceValues(chart, new Map(), 'keep', warn);
  const imported: ValueMap = new Map();
  for (const dependency of chart.dependencies) {
    for (const wanted of dependency.importValues) {
      if (typeof wanted !== 'string' && !isJsonObject(wanted)) continue;
      const child = typeof wanted === 'string' ? `exports.${wanted}` : String(wanted['child'] ?? '<nil>');
      const parent = typeof wanted === 'string' ? '.' : String(wanted['parent'] ?? '<nil>');
      const table = tableAt(values, `${dependency.name}.${child}`.split('.'));
      if (!table) warn(`ImportValues missing table from chart ${dependency.name}: ${child}`);
      else coalesceTables(imported, nested(parent, table), 'keep', warn);
    }
  }
  // The parent's own values take precedence over imported ones.
  chart.setValues(coalesceTables(copyMap(values), imported, 'keep', warn));
}

/** Builds a table below a dotted path. */
function nested(path: string, table: ValueMap): ValueMap {
  if (path === '.') return table;
  return path.split('.').reduceRight<ValueMap>((inner, key) => new Map<string, Value>([[key, inner]]), table);
}
