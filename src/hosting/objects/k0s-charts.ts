import { isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../machinery/index.ts';
import type { PlaneSpec } from '../spec.ts';

/** Where kubelets of k0s have their files; on all other nodes that is /var/lib/kubelet, which is what charts expect. */
const k0sKubeletDirectory = '/var/lib/k0s/kubelet';
const kubeletDirectory = ['csi', 'plugin', 'nodePlugin', 'kubeletDir'];

/** Configurations do not change: one is read once. */
const known = new WeakMap<JsonObject, readonly string[]>();

/** What is wrong with charts of a k0s configuration although they can be installed, in words. */
export function unsuitableCharts({ k0s }: Pick<PlaneSpec, 'k0s'>): readonly string[] {
  if (!k0s) return [];
  const read = known.get(k0s.config) ?? problemsOf(k0s.config);
  known.set(k0s.config, read);
  return read;
}

function problemsOf(config: JsonObject): string[] {
  const charts = at(config, ['spec', 'extensions', 'helm', 'charts']);
  return (Array.isArray(charts) ? charts : []).flatMap((chart) => {
    const name = at(chart, ['chartname']);
    if (typeof name !== 'string' || !/(^|\/)openstack-cinder-csi$/.test(name)) return [];
    const said = at(valuesOf(chart), kubeletDirectory) ?? '/var/lib/kubelet';
    if (said === k0sKubeletDirectory) return [];
    return [
      `chart ${String(at(chart, ['name']) ?? name)} looks for kubelets in ${String(said)}, but those of k0s are in ${k0sKubeletDirectory}, so that no volume would be mounted; set ${kubeletDirectory.join('.')} in its values`,
    ];
  });
}

/** Values are a text; one that cannot be read is for Helm to refuse. */
function valuesOf(chart: JsonValue): JsonValue | undefined {
  const text = at(chart, ['values']);
  if (typeof text !== 'string') return undefined;
  try {
    return parseYaml(text).value;
  } catch {
    return undefined;
  }
}

function at(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let node = value;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return node;
}
