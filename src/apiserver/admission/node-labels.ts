/** Labels of Kubernetes that kubelets may set on their own node. */
const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
const kubeletNamespaces = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const kubernetesNamespaces = ['kubernetes.io', 'k8s.io'];

/** Operators schedule workloads by these labels. A node that could set them could attract pods with secrets. */
const operatorNamespace = 'node-restriction.kubernetes.io';

type Labels = Readonly<Record<string, string>> | undefined;

/** Returns the sorted labels that a kubelet changed on its own node without permission. */
export function forbiddenLabels(next: Labels, before: Labels): string[] {
  const keys = new Set([...Object.keys(next ?? {}), ...Object.keys(before ?? {})]);
  return [...keys].filter((key) => next?.[key] !== before?.[key] && isForbidden(key)).sort();
}

function isForbidden(key: string): boolean {
  const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (isWithin(namespace, operatorNamespace)) return true;
  if (!kubernetesNamespaces.some((domain) => isWithin(namespace, domain))) return false;
  return !kubeletLabels.has(key) && !kubeletNamespaces.some((domain) => isWithin(namespace, domain));
}

function isWithin(namespace: string, domain: string): boolean {
  return namespace === domain || namespace.endsWith(`.${domain}`);
}
