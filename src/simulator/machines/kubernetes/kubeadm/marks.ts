import type { Taint } from '../../../../api/index.ts';
import type { KubernetesVersion } from './version.ts';

const controlPlaneRole = 'node-role.kubernetes.io/control-plane';
const masterRole = 'node-role.kubernetes.io/master';
const excludeBalancersLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** Marks of control plane Nodes. kubeadm renamed the role `master` step by step, from release 1.20 to 1.25. */
export interface ControlPlaneMarks {
  readonly labels: readonly string[];
  readonly taints: readonly Taint[];
}

/** Returns the marks that a kubeadm of this version gives to control plane Nodes. */
export function controlPlaneMarks({ minor }: Pick<KubernetesVersion, 'minor'>): ControlPlaneMarks {
  const labels = minor < 20 ? [masterRole] : minor < 24 ? [masterRole, controlPlaneRole] : [controlPlaneRole];
  const tainted = minor < 24 ? [masterRole] : minor < 25 ? [masterRole, controlPlaneRole] : [controlPlaneRole];
  return {
    labels: minor < 21 ? labels : [...labels, excludeBalancersLabel],
    taints: tainted.map((key) => ({ key, effect: 'NoSchedule' })),
  };
}

/** Returns the tolerations for control plane Nodes that add-ons of this version have. */
export function controlPlaneTolerations({ minor }: Pick<KubernetesVersion, 'minor'>): readonly Taint[] {
  const keys = minor < 20 ? [masterRole] : minor < 25 ? [masterRole, controlPlaneRole] : [controlPlaneRole];
  return keys.map((key) => ({ key, effect: 'NoSchedule' }));
}
