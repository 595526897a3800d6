import type { LatticeSettings } from '../../api/index.ts';
import {
  asJson,
  CapstanError,
  formatYaml,
  type JsonObject,
  must,
  parseKubernetesVersion,
  withLeadingV,
} from '../../machinery/index.ts';
import { loadChart, renderChart } from '../../template/index.ts';
import type { LatticeFacts } from './facts.ts';

/** The charts that come with the program. */
export interface AddonCharts {
  /** releases of a chart, the oldest first */
  versions(name: string): readonly string[];
  files(name: string, version: string): ReadonlyMap<string, Uint8Array>;
}

export type Addon = LatticeFacts['addons'][number];

/** Where add-ons run in the workload cluster, and the Secret they read their cloud from. */
export const addonNamespace = 'kube-system';
export const workloadCredentials = 'openstack-cloud-config';

interface AddonContext {
  readonly cluster: string;
  readonly settings: LatticeSettings;
  /** changes with the credentials, which programs read once */
  readonly credentialsDigest: string;
}

interface AddonChart {
  /** of the ConfigMap its manifests are in */
  readonly name: string;
  readonly chart: string;
  /** the release for a minor of Kubernetes */
  release(releases: readonly string[], minor: number): string;
  values(around: AddonContext): JsonObject;
}

/** Charts of OpenStack's programs follow the minors of Kubernetes; the nearest that is not newer is taken, or else the oldest. */
function sameMinor(releases: readonly string[], minor: number): string {
  const fitting = releases.filter((release) => (parseKubernetesVersion(withLeadingV(release))?.minor ?? 0) <= minor);
  return must(fitting.at(-1) ?? releases[0], 'a release');
}

/** First minor of Kubernetes that a release of Cilium is tested with, where the oldest is not. */
const ciliumSince: readonly (readonly [minor: number, release: string])[] = [
  [35, '1.19'],
  [34, '1.18.9'],
  [0, '1.18.1'],
];

const controlPlaneNodeLabel = 'node-role.kubernetes.io/control-plane';
/** on Pods: programs that read their credentials once are started again with others */
const digestAnnotation = 'checksum/credentials';

const tolerations = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
  { key: controlPlaneNodeLabel, effect: 'NoSchedule' },
  // of rke2
  { key: 'node-role.kubernetes.io/etcd', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
];

const mounted = (mountPath: string): JsonObject => ({ name: 'cloud-conf', mountPath, readOnly: true });

/** In the order in which a fresh cluster needs them. */
const addonCharts: readonly AddonChart[] = [
  {
    name: 'cilium',
    chart: 'cilium',
    release(releases, minor) {
      const [, wanted] = must(
        ciliumSince.find(([since]) => minor >= since),
        'a release',
      );
      return must(releases.findLast((release) => release.startsWith(wanted)) ?? releases.at(-1), 'a release');
    },
    values: ({ settings: { controlPlane, pools } }) => ({
      ipam: { mode: 'kubernetes' },
      routingMode: 'tunnel',
      tunnelProtocol: 'vxlan',
      hubble: { enabled: false },
      // two would repel each other on a single node
      operator: {
        replicas: controlPlane.replicas === 1 && pools.every(({ pool }) => pool.replicas === 0) ? 1 : 2,
      },
    }),
  },
  {
    name: 'cloud-controller-manager',
    chart: 'openstack-cloud-controller-manager',
    release: sameMinor,
    values: ({ cluster, settings, credentialsDigest }) => ({
      cluster: { name: cluster },
      podAnnotations: { [digestAnnotation]: credentialsDigest },
      secret: { enabled: true, create: false, name: workloadCredentials },
      // names of the cloud are resolved before the DNS of the cluster runs
      dnsPolicy: 'Default',
      nodeSelector: { [controlPlaneNodeLabel]: settings.bootstrap === 'rke2' ? 'true' : '' },
      tolerations,
    }),
  },
  {
    name: 'cinder-csi',
    chart: 'openstack-cinder-csi',
    release: sameMinor,
    values: ({ cluster, credentialsDigest }) => ({
      clusterID: cluster,
      secret: { enabled: true, create: false, hostMount: false, name: workloadCredentials, filename: 'cloud.conf' },
      storageClass: { delete: { isDefault: true } },
      csi: {
        plugin: {
          controllerPlugin: { podAnnotations: { [digestAnnotation]: credentialsDigest }, tolerations },
          nodePlugin: { podAnnotations: { [digestAnnotation]: credentialsDigest } },
          volumes: [{ name: 'cloud-conf', secret: { secretName: workloadCredentials } }],
          // charts before 2.33 look for it in /etc/kubernetes, later ones in /etc/config, where the authority always is
          volumeMounts: [mounted('/etc/kubernetes'), mounted('/etc/config')],
        },
      },
    }),
  },
];

/** How many sets of manifests are remembered: clusters of one version have much in common, but not all. */
const maxRemembered = 64;

/** Renders the add-ons of clusters; what was rendered before is not rendered again. */
export type AddonRenderer = (around: AddonContext) => readonly Addon[];

export function createAddonRenderer(charts: AddonCharts): AddonRenderer {
  const remembered = new Map<string, readonly Addon[]>();
  return (around) => {
    const { version } = around.settings;
    const { minor } = must(parseKubernetesVersion(version), version);
    const plans = addonCharts.map((addon) => ({
      addon,
      release: addon.release(charts.versions(addon.chart), minor),
      values: addon.values(around),
    }));
    const key = JSON.stringify([version, plans.map(({ release, values }) => [release, values])]);
    const known = remembered.get(key);
    if (known) return known;
    const made = plans.map(({ addon, release, values }) => ({
      name: addon.name,
      manifests: render(addon.chart, charts.files(addon.chart, release), values, version),
    }));
    remembered.set(key, made);
    for (const [oldest] of remembered) {
      if (remembered.size <= maxRemembered) break;
      remembered.delete(oldest);
    }
    return made;
  };
}

function render(name: string, files: ReadonlyMap<string, Uint8Array>, values: JsonObject, kubeVersion: string): string {
  const chart = loadChart(files);
  if (!chart.ok) throw new CapstanError('CAP_CHART_MISSING', `chart ${name}: ${chart.error.message}`);
  const rendered = renderChart({
    chart: chart.value,
    values,
    release: { name, namespace: addonNamespace },
    capabilities: { kubeVersion },
    includeCrds: true,
  });
  if (!rendered.ok) throw new CapstanError('CAP_CHART_MISSING', `chart ${name}: ${rendered.error.message}`);
  return rendered.value.objects.map(({ object }) => formatYaml(asJson(object))).join('---\n');
}
