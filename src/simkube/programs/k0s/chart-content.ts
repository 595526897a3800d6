import { parse } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../../machinery/index.ts';
import { type HelmChart, objectAt, textAt } from './config.ts';
import { daemonSet, deployment } from './workloads.ts';

export const releaseLabel = 'app.kubernetes.io/instance';

/** What a chart leaves in a cluster; throws when its values cannot be read. */
export function chartContent(chart: HelmChart): KubeObject[] {
  const values = parseValues(chart.values);
  const kind = chart.chartName.slice(chart.chartName.lastIndexOf('/') + 1);
  const labels = {
    'app.kubernetes.io/name': kind,
    [releaseLabel]: chart.name,
    'app.kubernetes.io/managed-by': 'Helm',
  };
  const { namespace } = chart;
  const fullName =
    textAt(values, 'fullnameOverride') || (chart.name.includes(kind) ? chart.name : `${chart.name}-${kind}`);
  if (kind === 'openstack-cloud-controller-manager') {
    const credentials = cloudCredentials(chart, values, { byDefault: true });
    return [
      ...credentials.objects,
      ...cloudControllerRights(chart),
      daemonSet({
        name: fullName,
        namespace,
        image: 'registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.31.1',
        labels: { ...labels, 'k8s-app': kind },
        container: { env: objectsAt(values, 'extraEnv'), volumeMounts: objectsAt(values, 'extraVolumeMounts') },
        pod: {
          ...placement(values, {
            nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
            tolerations: cloudTolerations,
          }),
          volumes: [...credentials.volumes, ...objectsAt(values, 'extraVolumes')],
          serviceAccountName: cloudControllerAccount,
        },
      }),
    ];
  }
  if (kind === 'openstack-cinder-csi') return cinderCsi(chart, values, labels);
  return [
    deployment({
      name: fullName,
      namespace,
      image: `${kind}:${chart.version || 'latest'}`,
      labels,
      pod: placement(values, {}),
    }),
  ];
}

/** The Secret with the credentials of the cloud: made by the chart, or brought by somebody else and waited for. */
function cloudCredentials(
  { name: release, namespace }: HelmChart,
  values: JsonObject,
  { byDefault }: { byDefault: boolean },
): { objects: KubeObject[]; volumes: JsonObject[] } {
  const secret = objectAt(values, 'secret');
  if ((secret['enabled'] ?? byDefault) !== true) return { objects: [], volumes: [] };
  const name = textAt(secret, 'name') || 'cloud-config';
  const made = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { [releaseLabel]: release } },
    stringData: { 'cloud.conf': '[Global]\n' },
  } as KubeObject;
  return {
    objects: (secret['create'] ?? byDefault) === true ? [made] : [],
    volumes: [{ name: 'cloud-config-volume', secret: { secretName: name } }],
  };
}

const cloudControllerAccount = 'cloud-controller-manager';

/** Who the cloud controller manager is and what it may do, under the names of its chart. */
function cloudControllerRights({ name: release, namespace }: HelmChart): KubeObject[] {
  const labels = { [releaseLabel]: release };
  const metadata = { name: `system:${cloudControllerAccount}`, labels };
  const core = (resources: string[], verbs: string[]): JsonObject => ({ apiGroups: [''], resources, verbs });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: cloudControllerAccount, namespace, labels } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata,
      rules: [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
        core(['events'], ['create', 'patch', 'update']),
        core(['nodes'], ['*']),
        core(['nodes/status'], ['patch']),
        core(['services'], ['list', 'patch', 'update', 'watch']),
        core(['services/status'], ['patch']),
      ],
    } as KubeObject,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: cloudControllerAccount, namespace }],
    } as KubeObject,
  ];
}

const cloudTolerations: JsonObject[] = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
];

/** Values say where Pods go; a null takes the chart's own default away. */
function placement(
  values: JsonObject,
  defaults: { nodeSelector?: JsonObject; tolerations?: JsonObject[] },
): JsonObject {
  const given = (key: 'nodeSelector' | 'tolerations'): JsonValue | undefined =>
    Object.hasOwn(values, key) ? (values[key] ?? undefined) : defaults[key];
  const nodeSelector = given('nodeSelector');
  const tolerations = given('tolerations');
  return {
    ...(isJsonObject(nodeSelector) && { nodeSelector }),
    tolerations: Array.isArray(tolerations) ? tolerations : [],
  };
}

function cinderCsi(chart: HelmChart, values: JsonObject, labels: Record<string, string>): KubeObject[] {
  const { namespace } = chart;
  const credentials = cloudCredentials(chart, values, { byDefault: false });
  const image = 'registry.k8s.io/provider-os/cinder-csi-plugin:v1.31.2';
  const classes = objectAt(values, 'storageClass');
  const kubeletDirectory =
    textAt(objectAt(objectAt(objectAt(values, 'csi'), 'plugin'), 'nodePlugin'), 'kubeletDir') || '/var/lib/kubelet';
  const storageClass = (policy: 'Delete' | 'Retain'): KubeObject => {
    const settings = objectAt(classes, policy.toLowerCase());
    return {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: `csi-cinder-sc-${policy.toLowerCase()}`,
        labels,
        annotations: {
          'storageclass.kubernetes.io/is-default-class': String(settings['isDefault'] ?? policy === 'Delete'),
        },
      },
      provisioner: 'cinder.csi.openstack.org',
      reclaimPolicy: policy,
      allowVolumeExpansion: settings['allowVolumeExpansion'] !== false,
    } as KubeObject;
  };
  return [
    ...credentials.objects,
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'cinder.csi.openstack.org', labels },
      spec: { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
    } as KubeObject,
    daemonSet({
      name: `${chart.name}-cinder-csi-nodeplugin`,
      namespace,
      image,
      labels: { ...labels, component: 'nodeplugin' },
      pod: { volumes: [...credentials.volumes, { name: 'kubelet-dir', hostPath: { path: kubeletDirectory } }] },
    }),
    deployment({
      name: `${chart.name}-cinder-csi-controllerplugin`,
      namespace,
      image,
      labels: { ...labels, component: 'controllerplugin' },
      pod: { volumes: credentials.volumes },
    }),
    ...(classes['enabled'] === false ? [] : [storageClass('Delete'), storageClass('Retain')]),
  ];
}

function objectsAt(values: JsonObject, key: string): JsonObject[] {
  const list = values[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function parseValues(text: string): JsonObject {
  const values = (text === '' ? {} : parse(text)) as JsonValue;
  if (!isJsonObject(values)) throw new Error(`can't parse values: they are no object`);
  return values;
}
