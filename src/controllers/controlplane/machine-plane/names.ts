import type { ComponentPod } from './provider.ts';

/** on the control plane: a machine was given up and its replacement is still to be made */
export const remediationInProgressAnnotation = 'controlplane.cluster.x-k8s.io/remediation-in-progress';
/** on the replacement: what it replaces */
export const remediationForAnnotation = 'controlplane.cluster.x-k8s.io/remediation-for';

// Conditions of a machine that its control plane sets.
/** whether the Node carries what it should, in the words of each provider */
export const marksConditions = { kubeadm: 'NodeKubeadmLabelsAndTaintsSet', rke2: 'NodeMetadataUpToDate' } as const;
export const apiServerHealthy = 'APIServerPodHealthy';
export const controllerManagerHealthy = 'ControllerManagerPodHealthy';
export const schedulerHealthy = 'SchedulerPodHealthy';
export const etcdPodHealthy = 'EtcdPodHealthy';
export const etcdMemberHealthy = 'EtcdMemberHealthy';

/** The static Pods on every machine, and the condition each of them is shown in. */
export const componentPods: readonly ComponentPod[] = [
  ['kube-apiserver', apiServerHealthy],
  ['kube-controller-manager', controllerManagerHealthy],
  ['kube-scheduler', schedulerHealthy],
];
export const etcdPod: ComponentPod = ['etcd', etcdPodHealthy];

/** Static Pods carry the name of their Node. */
export const staticPodName = (component: string, node: string): string => `${component}-${node}`;
