import type { ComponentPod } from './provider.ts';

/** annotation of the control plane: a machine was remediated and its replacement is not created yet */
export const remediationInProgressAnnotation = 'controlplane.cluster.x-k8s.io/remediation-in-progress';
/** annotation of the replacement: the remediated machine */
export const remediationForAnnotation = 'controlplane.cluster.x-k8s.io/remediation-for';

// Condition types that the control plane sets on machines.
/** condition about labels and taints of the Node, by provider */
export const marksConditions = { kubeadm: 'NodeKubeadmLabelsAndTaintsSet', rke2: 'NodeMetadataUpToDate' } as const;
export const apiServerHealthy = 'APIServerPodHealthy';
export const controllerManagerHealthy = 'ControllerManagerPodHealthy';
export const schedulerHealthy = 'SchedulerPodHealthy';
export const etcdPodHealthy = 'EtcdPodHealthy';
export const etcdMemberHealthy = 'EtcdMemberHealthy';

/** Static Pods on every machine, with the condition type of each. */
export const componentPods: readonly ComponentPod[] = [
  ['kube-apiserver', apiServerHealthy],
  ['kube-controller-manager', controllerManagerHealthy],
  ['kube-scheduler', schedulerHealthy],
];
export const etcdPod: ComponentPod = ['etcd', etcdPodHealthy];

/** Static Pod names end with the name of their Node. */
export const staticPodName = (component: string, node: string): string => `${component}-${node}`;
