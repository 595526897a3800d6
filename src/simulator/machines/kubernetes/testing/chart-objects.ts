import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject, KubeObject } from '../../../../machinery/index.ts';
import { loadChart, renderChart } from '../../../../template/index.ts';

/** Renders the objects of a chart in this repository. */
export function chartObjects(name: string, values: JsonObject = {}): KubeObject[] {
  const root = fileURLToPath(new URL(`../../../../../charts/${name}`, import.meta.url));
  const files = new Map<string, Uint8Array>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(root, file), readFileSync(file));
  }
  const chart = loadChart(files);
  if (!chart.ok) throw chart.error;
  const rendered = renderChart({ chart: chart.value, values, release: { name, namespace: 'kube-system' } });
  if (!rendered.ok) throw rendered.error;
  return rendered.value.objects.map(({ object }) => object);
}
