import { preTerminateHookPrefix } from '../../shared/index.ts';

export const controlPlaneFinalizer = 'kubeadm.controlplane.cluster.x-k8s.io';
/** blocks the end of a machine until its etcd member has left */
export const cleanupHook: string = `${preTerminateHookPrefix}/kcp-cleanup`;
/** on the control plane: a machine was given up and its replacement is still to be made */
export const remediationInProgressAnnotation = 'controlplane.cluster.x-k8s.io/remediation-in-progress';
/** on the replacement: what it replaces */
export const remediationForAnnotation = 'controlplane.cluster.x-k8s.io/remediation-for';

// Who owns which fields, in the words of upstream.
export const controlPlaneManager = 'capi-kubeadmcontrolplane';
export const controlPlaneMetadataManager = 'capi-kubeadmcontrolplane-metadata';

// Conditions of a machine that its control plane sets.
export const nodeSet = 'NodeKubeadmLabelsAndTaintsSet';
export const apiServerHealthy = 'APIServerPodHealthy';
export const controllerManagerHealthy = 'ControllerManagerPodHealthy';
export const schedulerHealthy = 'SchedulerPodHealthy';
export const etcdPodHealthy = 'EtcdPodHealthy';
export const etcdMemberHealthy = 'EtcdMemberHealthy';

/** The Pods kubeadm makes on every machine, and the condition each of them is shown in. */
export const componentPods: readonly (readonly [component: string, condition: string])[] = [
  ['kube-apiserver', apiServerHealthy],
  ['kube-controller-manager', controllerManagerHealthy],
  ['kube-scheduler', schedulerHealthy],
];
export const etcdPod: readonly [component: string, condition: string] = ['etcd', etcdPodHealthy];

/** Static Pods carry the name of their Node. */
export const staticPodName = (component: string, node: string): string => `${component}-${node}`;
