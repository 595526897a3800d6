import { isList, isMap, toTemplateValue, type Value, type ValueMap } from '../values/index.ts';
import type { Chart, ChartDependency, ChartMetadata } from './chart.ts';

/** A dependency during one rendering. Copies of a chart for its aliases share it, as in Helm. */
export interface DependencyState extends Omit<ChartDependency, 'name'> {
  name: string;
  isEnabled: boolean;
}

/** A chart during one rendering, without disabled dependencies and with aliases applied. */
export class ChartInstance {
  readonly chart: Chart;
  readonly metadata: ChartMetadata;
  readonly name: string;
  dependencies: readonly DependencyState[];
  subcharts: readonly ChartInstance[];
  parent: ChartInstance | undefined;
  /** values after import-values; undefined: the chart's own */
  #values: ValueMap | undefined;

  private constructor(chart: Chart, name: string, dependencies: readonly DependencyState[]) {
    this.chart = chart;
    this.metadata = chart.metadata;
    this.name = name;
    this.dependencies = dependencies;
    this.subcharts = [];
  }

  static of(chart: Chart): ChartInstance {
    const dependencies = chart.metadata.dependencies.map((one) => ({ ...one, isEnabled: true }));
    const instance = new ChartInstance(chart, chart.metadata.name, dependencies);
    instance.adopt(chart.subcharts.map((subchart) => ChartInstance.of(subchart)));
    return instance;
  }

  /** Copies the chart under another name. Subcharts stay with the original until the copy adopts its own. */
  renamed(name: string): ChartInstance {
    const copy = new ChartInstance(this.chart, name, this.dependencies);
    copy.subcharts = this.subcharts;
    copy.parent = this.parent;
    copy.#values = this.#values;
    return copy;
  }

  adopt(subcharts: readonly ChartInstance[]): void {
    for (const subchart of subcharts) subchart.parent = this;
    this.subcharts = subcharts;
  }

  /** Returns a copy of the chart's values. */
  values(): ValueMap {
    if (this.#values) return copyMap(this.#values);
    const values = toTemplateValue(this.chart.values);
    return isMap(values) ? values : new Map();
  }

  setValues(values: ValueMap): void {
    this.#values = values;
  }

  /** for example `parent/charts/name` */
  get path(): string {
    return this.parent ? `${this.parent.path}/charts/${this.name}` : this.name;
  }

  get isLibrary(): boolean {
    return this.metadata.type.toLowerCase() === 'library';
  }
}

/** Deep-copies a map of values. */
export function copyMap(map: ValueMap): ValueMap {
  const copy: ValueMap = new Map();
  for (const [key, value] of map) copy.set(key, copyOf(value));
  return copy;
}

function copyOf(value: Value): Value {
  if (isMap(value)) return copyMap(value);
  return isList(value) ? value.map(copyOf) : value;
}
