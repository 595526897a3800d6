import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { familyName, formatStackVersion, parseStackId } from '../../../src/api/index.ts';
import { tar } from '../../../src/artifacts/testing/index.ts';
import { builtInChart } from '../../../src/cli/built-in-charts.ts';
import { builtInSource } from '../../../src/controllers/stacks/source/built-in.ts';
import { must } from '../../../src/machinery/index.ts';

const signal = new AbortController().signal;
const folder = fileURLToPath(new URL('../../../stacks', import.meta.url));
const source = builtInSource(folder, async () => new Map());

/**
 * Builds a release from a built-in one, as a publisher would: packed into archives under its own version, including the
 * charts of its add-ons, and with some files replaced.
 */
export async function publishedStack(
  name: string,
  { from = name, addOns = {} }: { from?: string; addOns?: Readonly<Record<string, string>> } = {},
): Promise<Map<string, Uint8Array>> {
  const [id, original] = [must(parseStackId(name), name), must(parseStackId(from), from)];
  const files = must(await source.files(original, signal), from);
  const version = formatStackVersion(id.version);
  const text = (path: string): string => Buffer.from(must(files.get(path), path)).toString('utf8');
  const below = (prefix: string): Map<string, Uint8Array> =>
    new Map(
      [...files].flatMap(([path, content]) => (path.startsWith(prefix) ? [[path.slice(prefix.length), content]] : [])),
    );
  const addons = below('cluster-addon/');
  for (const [path, content] of [...addons]) {
    if (!path.endsWith('/Chart.yaml')) continue;
    const { dependencies = [] } = JSON.parse(Buffer.from(content).toString('utf8')) as {
      dependencies?: { name: string; version: string }[];
    };
    for (const chart of dependencies) {
      for (const [inner, bytes] of await builtInChart(chart.name, chart.version)) {
        addons.set(`${path.slice(0, path.indexOf('/'))}/charts/${chart.name}/${inner}`, bytes);
      }
    }
  }
  for (const [path, content] of Object.entries(addOns)) addons.set(path, Buffer.from(content));
  const pack = (entries: ReadonlyMap<string, Uint8Array>, prefix: string): Uint8Array =>
    gzipSync(tar([...entries].map(([path, content]) => ({ path: `${prefix}${path}`, content }))));
  const family = familyName(id);
  const classChart = below('cluster-class/');
  const chart = JSON.parse(text('cluster-class/Chart.yaml')) as object;
  classChart.set('Chart.yaml', Buffer.from(JSON.stringify({ ...chart, version })));
  const metadata = JSON.parse(text('metadata.yaml')) as { versions: { components: object } };
  const components = { ...metadata.versions.components, clusterAddon: version };
  const versions = { ...metadata.versions, clusterStack: version, components };
  return new Map([
    ['metadata.yaml', Buffer.from(JSON.stringify({ ...metadata, versions }))],
    ['clusteraddon.yaml', must(files.get('clusteraddon.yaml'), 'clusteraddon.yaml')],
    [`${family}-cluster-class-${version}.tgz`, pack(classChart, `${family}-cluster-class/`)],
    [`${family}-cluster-addon-${version}.tgz`, pack(addons, '')],
  ]);
}
