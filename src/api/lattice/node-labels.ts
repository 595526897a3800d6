/** How a label gets onto the nodes of a pool; undefined: by nobody. */
export type NodeLabelWay = 'kubelet' | 'machine';

/**
 * Kubelets give themselves labels outside of the domains of Kubernetes, and a few inside; what a node may not claim for itself,
 * such as a role, goes by way of its Machine.
 */
export function nodeLabelWay(key: string): NodeLabelWay | undefined {
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : '';
  if (domain === 'node-role.kubernetes.io' || isBelow(domain, 'node-restriction.kubernetes.io')) return 'machine';
  if (isBelow(domain, 'kubelet.kubernetes.io') || isBelow(domain, 'node.kubernetes.io')) return 'kubelet';
  return isBelow(domain, 'kubernetes.io') || isBelow(domain, 'k8s.io') ? undefined : 'kubelet';
}

const isBelow = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
