import { isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../machinery/index.ts';
import type { PlaneSpec } from '../spec.ts';

/** Kubelet directory of k0s; elsewhere it is /var/lib/kubelet, which charts expect. */
const k0sKubeletDirectory = '/var/lib/k0s/kubelet';
const kubeletDirectory = ['csi', 'plugin', 'nodePlugin', 'kubeletDir'];

/** Memoized: configurations are immutable. */
const known = new WeakMap<JsonObject, readonly string[]>();

/** Lists problems of charts in a k0s configuration that install but will not work. */
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

/** Parses chart values; invalid YAML is left for Helm to report. */
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
