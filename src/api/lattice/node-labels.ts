/** How a label gets onto the nodes of a pool; undefined if no mechanism sets it. */
export type NodeLabelWay = 'kubelet' | 'machine';

/**
 * Kubelets may set labels outside the domains of Kubernetes, and a few inside. Labels that a node must not claim for
 * itself, such as a role, are set through its Machine.
 */
export function nodeLabelWay(key: string): NodeLabelWay | undefined {
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : '';
  if (domain === 'node-role.kubernetes.io' || isBelow(domain, 'node-restriction.kubernetes.io')) return 'machine';
  if (isBelow(domain, 'kubelet.kubernetes.io') || isBelow(domain, 'node.kubernetes.io')) return 'kubelet';
  return isBelow(domain, 'kubernetes.io') || isBelow(domain, 'k8s.io') ? undefined : 'kubelet';
}

const isBelow = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
