// Condition types and reasons of OpenStackMachines as upstream sets them, and Capstan's annotation.

export const readyCondition = 'Ready';
export const instanceReadyCondition = 'InstanceReady';
export const apiServerIngressCondition = 'APIServerIngressReady';

export const waitingForClusterReason = 'WaitingForClusterInfrastructure';
export const waitingForBootstrapReason = 'WaitingForBootstrapData';
export const loadBalancerMemberErrorReason = 'LoadBalancerMemberError';
export const floatingIpErrorReason = 'FloatingIPError';

/**
 * Annotation of an OpenStackMachine, from its template: servers of one control plane, deployment or set get a server
 * group of their own with this policy. `anti-affinity`, `soft-anti-affinity`, `affinity` or `soft-affinity`.
 */
export const managedServerGroupAnnotation = 'infrastructure.cluster.x-k8s.io/managed-server-group';
