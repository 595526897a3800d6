// Public interface of the room that runs Pods: node, scheduler, containers, Services, volumes. It serves the embedded
// management API, or acts as one node of another Kubernetes.
export { standardGatewayClass } from './gateway/gateway-controller.ts';
export { standardIngressClass } from './gateway/ingress-controller.ts';
export { guestClient } from './guest/guest-client.ts';
export { gatewayRules, nodeUser, providerRules } from './guest/rights.ts';
export { type GuestOptions, type PodHost, type PodHostOptions, simulatedLabels, startPodHost } from './start.ts';
export { directoryCsiDriver, standardStorageClass } from './storage/provisioner.ts';
