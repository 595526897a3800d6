import { type ClusterRole, gatewayGroup } from '../../api/index.ts';
import { systemGroups, type UserInfo } from '../../apiserver/index.ts';

const reading = ['get', 'list', 'watch'];

/** A node as every Kubernetes knows it: what it may read of Secrets is decided by the Pods that were given to it. */
export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: [systemGroups.nodes, systemGroups.authenticated] };
}

/** What the account needs that makes volumes and gives addresses to Services. */
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
  // whether Pods wait for a scheduler that nobody runs
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  // who asks for logs and ports of Pods is asked about
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

const gatewayKinds = ['gatewayclasses', 'gateways', 'tlsroutes'];

/** What it needs beside that for a node that is a gateway, too. */
export const gatewayRules: typeof providerRules = [
  { apiGroups: [gatewayGroup], resources: [...gatewayKinds, 'referencegrants'], verbs: reading },
  { apiGroups: [gatewayGroup], resources: gatewayKinds.map((kind) => `${kind}/status`), verbs: ['update'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: reading },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: reading },
];
