import { Registry } from 'prom-client';
import { ApiServerMetrics } from '../../src/apiserver/metrics.ts';
import { planeMetrics } from '../../src/controllers/controlplane/plane-driver/metrics.ts';
import { guidePrices, showCosts } from '../../src/controllers/index.ts';
import { createMetrics } from '../../src/runtime/index.ts';

export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Returns every metric of the program, from the registries that serve them. */
export async function allMetrics(): Promise<Metric[]> {
  const registry = new Registry();
  createMetrics(registry);
  planeMetrics(registry);
  showCosts(registry, { lister: () => ({ list: () => [] }) } as never, guidePrices);
  const server = new ApiServerMetrics({ revision: 0, count: () => 0 } as never, { all: () => [] } as never);
  const request = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '' };
  server.started(false);
  server.finished(false, request, 200, 0.1);
  const rendered = read((await server.render()).body);
  const known = new Set(server.registry.getMetricsAsArray().map(({ name }) => name));
  return [
    ...rendered.filter(({ name }) => !known.has(name)),
    ...[...server.registry.getMetricsAsArray(), ...registry.getMetricsAsArray()].map(ofLibrary),
  ].sort((a, b) => a.name.localeCompare(b.name));
}

function ofLibrary(metric: ReturnType<Registry['getMetricsAsArray']>[number]): Metric {
  const { name, help, type, labelNames = [] } = metric as typeof metric & { type?: string; labelNames?: string[] };
  const kind = String(type ?? metric.constructor.name).toLowerCase();
  return { name, help, type: kind, labels: labelNames };
}

/** Parses the text format, for metrics served without the library. */
function read(text: string): Metric[] {
  const lines = text.split('\n');
  return lines
    .filter((line) => line.startsWith('# TYPE '))
    .map((line) => {
      const [, , name = '', type = ''] = line.split(' ');
      const help = lines.find((other) => other.startsWith(`# HELP ${name} `))?.slice(`# HELP ${name} `.length) ?? '';
      const samples = lines.filter((other) => other.startsWith(name) && other.includes('{'));
      const labels = samples.flatMap((sample) => [...sample.matchAll(/([a-z_]+)="/g)].map(([, name = '']) => name));
      return { name, type, help, labels: [...new Set(labels)].filter((label) => label !== 'le') };
    });
}
