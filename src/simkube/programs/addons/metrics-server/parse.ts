export interface Usage {
  readonly cores: number;
  readonly bytes: number;
}

/** Metrics from a kubelet's /metrics/resource: usage of the node, and of containers by `namespace/pod/container`. */
export interface ResourceMetrics {
  readonly node: Usage | undefined;
  readonly containers: ReadonlyMap<string, Usage>;
}

const line = /^([a-z_]+)(?:\{([^}]*)\})? ([0-9.e+-]+)/;
const label = /(?<![a-z_])([a-z_]+)="([^"]*)"/g;

/** Computes rates as a counter divided by the time since the container started. */
export function parseResourceMetrics(text: string, now: number): ResourceMetrics {
  const found = new Map<string, Map<string, number>>();
  for (const written of text.split('\n')) {
    const match = line.exec(written);
    if (!match) continue;
    const [, name = '', labels = '', value = ''] = match;
    const of = Object.fromEntries([...labels.matchAll(label)].map(([, name_ = '', said = '']) => [name_, said]));
    const key = labels === '' ? '' : `${of['namespace']}/${of['pod']}/${of['container']}`;
    const values = found.get(key) ?? new Map<string, number>();
    values.set(name.replace(/^(?:node|container)_/, ''), Number(value));
    found.set(key, values);
  }
  const usage = (values: ReadonlyMap<string, number>): Usage => {
    const seconds = Math.max(1, now / 1000 - (values.get('start_time_seconds') ?? 0));
    return {
      cores: (values.get('cpu_usage_seconds_total') ?? 0) / seconds,
      bytes: values.get('memory_working_set_bytes') ?? 0,
    };
  };
  const node = found.get('');
  found.delete('');
  return {
    node: node && usage(node),
    containers: new Map([...found].map(([key, values]) => [key, usage(values)])),
  };
}
