import { type ClusterRole, gatewayGroup } from '../../api/index.ts';
import { systemGroups, type UserInfo } from '../../apiserver/index.ts';

const reading = ['get', 'list', 'watch'];

/** User of a node. The Pods assigned to the node decide which Secrets it may read. */
export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: [systemGroups.nodes, systemGroups.authenticated] };
}

/** Rights of the account that creates volumes and assigns addresses to Services. */
export const providerRules: NonNullable<ClusterRole['rules']> = [
  { apiGroups: [''], resources: ['services'], verbs: reading },
  { apiGroups: [''], resources: ['services/status'], verbs: ['update'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: reading },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: [...reading, 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumes/status'], verbs: ['update', 'patch'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: reading },
  { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update', 'patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: reading },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update', 'get'] },
  // to detect Pods that wait for a missing scheduler
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  // to authorize requests for logs and ports of Pods
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

const gatewayKinds = ['gatewayclasses', 'gateways', 'tlsroutes'];

/** Additional rights for a node that also serves Gateways. */
export const gatewayRules: typeof providerRules = [
  { apiGroups: [gatewayGroup], resources: [...gatewayKinds, 'referencegrants'], verbs: reading },
  { apiGroups: [gatewayGroup], resources: gatewayKinds.map((kind) => `${kind}/status`), verbs: ['update'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: reading },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: reading },
];
