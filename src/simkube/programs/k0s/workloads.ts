import type { JsonObject, KubeObject } from '../../../machinery/index.ts';

/** Short form of a workload. */
export interface WorkloadSpec {
  readonly name: string;
  readonly namespace?: string;
  readonly image: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  /** additional container fields */
  readonly container?: JsonObject;
  /** additional fields of the Pod spec */
  readonly pod?: JsonObject;
}

const tolerateAll: JsonObject[] = [{ operator: 'Exists' }];

function template({ name, image, labels, container, pod }: WorkloadSpec): {
  labels: Record<string, string>;
  template: JsonObject;
} {
  const all = labels ?? { 'k8s-app': name };
  return {
    labels: { ...all },
    template: { metadata: { labels: { ...all } }, spec: { containers: [{ name, image, ...container }], ...pod } },
  };
}

export function daemonSet(desired: WorkloadSpec): KubeObject {
  const { labels, template: made } = template({
    ...desired,
    pod: { hostNetwork: true, tolerations: tolerateAll, ...desired.pod },
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: desired.name, namespace: desired.namespace ?? 'kube-system', labels },
    spec: { selector: { matchLabels: labels }, template: made },
  } as KubeObject;
}

export function deployment(desired: WorkloadSpec): KubeObject {
  const { labels, template: made } = template(desired);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: desired.name, namespace: desired.namespace ?? 'kube-system', labels },
    spec: { replicas: desired.replicas ?? 1, selector: { matchLabels: labels }, template: made },
  } as KubeObject;
}

export function serviceAccount(name: string, namespace = 'kube-system'): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data } as KubeObject;
}
