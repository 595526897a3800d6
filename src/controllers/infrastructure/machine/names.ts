// Condition types and reasons of OpenStackMachines as upstream sets them, and Capstan's annotation.

export const readyCondition = 'Ready';
export const instanceReadyCondition = 'InstanceReady';
export const apiServerIngressCondition = 'APIServerIngressReady';

export const waitingForClusterReason = 'WaitingForClusterInfrastructure';
export const waitingForBootstrapReason = 'WaitingForBootstrapData';
export const loadBalancerMemberErrorReason = 'LoadBalancerMemberError';
export const floatingIpErrorReason = 'FloatingIPError';
