// Types and reasons of conditions of OpenStackMachines, as upstream writes them, and the annotation of our own.

export const readyCondition = 'Ready';
export const instanceReadyCondition = 'InstanceReady';
export const apiServerIngressCondition = 'APIServerIngressReady';

export const waitingForClusterReason = 'WaitingForClusterInfrastructure';
export const waitingForBootstrapReason = 'WaitingForBootstrapData';
export const loadBalancerMemberErrorReason = 'LoadBalancerMemberError';
export const floatingIpErrorReason = 'FloatingIPError';

/**
 * On an OpenStackMachine, as it comes from the template of its Machine: servers of one set (control plane, deployment, set)
 * are put in a server group of their own with this policy. `anti-affinity`, `soft-anti-affinity`, `affinity` or
 * `soft-affinity`.
 */
export const managedServerGroupAnnotation = 'infrastructure.cluster.x-k8s.io/managed-server-group';
