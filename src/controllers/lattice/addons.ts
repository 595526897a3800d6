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

/** Bundled Helm charts. */
export interface AddonCharts {
  /** releases of a chart, oldest first */
  versions(name: string): readonly string[];
  files(name: string, version: string): ReadonlyMap<string, Uint8Array>;
}

export type Addon = LatticeFacts['addons'][number];

/** Namespace of add-ons in the workload cluster, and the Secret with their cloud credentials. */
export const addonNamespace = 'kube-system';
export const workloadCredentials = 'openstack-cloud-config';

interface AddonContext {
  readonly cluster: string;
  readonly settings: LatticeSettings;
  /** changes with the credentials, which the components read only at startup */
  readonly credentialsDigest: string;
}

interface AddonChart {
  /** name of the ConfigMap with its manifests */
  readonly name: string;
  readonly chart: string;
  /** chart release for a Kubernetes minor version */
  release(releases: readonly string[], minor: number): string;
  values(around: AddonContext): JsonObject;
}

/**
 * OpenStack charts follow Kubernetes minor versions; returns the nearest release that is not newer, otherwise the
 * oldest.
 */
function sameMinor(releases: readonly string[], minor: number): string {
  const fitting = releases.filter((release) => (parseKubernetesVersion(withLeadingV(release))?.minor ?? 0) <= minor);
  return must(fitting.at(-1) ?? releases[0], 'a release');
}

/** First Kubernetes minor version that a Cilium release is tested with, for all but the oldest. */
const ciliumSince: readonly (readonly [minor: number, release: string])[] = [
  [35, '1.19'],
  [34, '1.18.9'],
  [0, '1.18.1'],
];

const controlPlaneNodeLabel = 'node-role.kubernetes.io/control-plane';
/** Pod annotation that changes with the credentials, so that Pods restart */
const digestAnnotation = 'checksum/credentials';

const tolerations = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
  { key: controlPlaneNodeLabel, effect: 'NoSchedule' },
  // taint of rke2
  { key: 'node-role.kubernetes.io/etcd', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
];

const mounted = (mountPath: string): JsonObject => ({ name: 'cloud-conf', mountPath, readOnly: true });

/** In the order a new cluster needs them. */
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
      // the replicas have anti-affinity and cannot share a single node
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
      // the cloud's host names must resolve before the cluster DNS runs
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
          // charts before 2.33 read cloud.conf from /etc/kubernetes, later ones from /etc/config, where the CA always
          // is
          volumeMounts: [mounted('/etc/kubernetes'), mounted('/etc/config')],
        },
      },
    }),
  },
];

/** Cache size: clusters of one version share many manifests, but not all. */
const maxRemembered = 64;

/** Renders the add-ons of clusters, with a cache. */
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
