import {
  type ClusterRole,
  ClusterRoleBindings,
  ClusterRoles,
  CsiDrivers,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  GatewayClasses,
  gatewayGroup,
  type IngressClass,
  IngressClasses,
  Namespaces,
  ownDefinitions,
  type RoleBinding,
  RoleBindings,
  type ServiceAccount,
  ServiceAccounts,
  type StorageClass,
  StorageClasses,
} from '../../api/index.ts';
import { serviceAccountGroups, serviceAccountUsername, systemGroups, type UserInfo } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import type { Clock, KubeObject } from '../../machinery/index.ts';
import {
  directoryCsiDriver,
  standardGatewayClass,
  standardIngressClass,
  standardStorageClass,
} from '../../podhost/index.ts';
import { customResourceDefinitionFor } from '../../webhooks/index.ts';
import { bindingOf, controllerIdentityObjects, systemNamespace } from '../controller-identity.ts';
import { applyKinds } from '../install/apply-kinds.ts';
import { installedLabels, isInstalledByUs } from '../install/labels.ts';

const accountName = 'capstan-node';
/** On a Kubernetes of others `standard` is theirs. */
export const storageClassName = 'capstan-simulated';
const defaultClass = 'storageclass.kubernetes.io/is-default-class';
const rbacApiVersion = 'rbac.authorization.k8s.io/v1';
const reading = ['get', 'list', 'watch'];

/** A node as every Kubernetes knows it: what it may read of Secrets is decided by the Pods that were given to it. */
export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: [systemGroups.nodes, systemGroups.authenticated] };
}

/** Who makes volumes and gives addresses to Services. */
export const providerUser: UserInfo = {
  name: serviceAccountUsername(systemNamespace, accountName),
  groups: [...serviceAccountGroups(systemNamespace), systemGroups.authenticated],
};

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: accountName, namespace: systemNamespace },
};

const rules: NonNullable<ClusterRole['rules']> = [
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

/** For a node that is a gateway, too. */
const gatewayRules: typeof rules = [
  { apiGroups: [gatewayGroup], resources: [...gatewayKinds, 'referencegrants'], verbs: reading },
  { apiGroups: [gatewayGroup], resources: gatewayKinds.map((kind) => `${kind}/status`), verbs: ['update'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: reading },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: reading },
];

function roleFor({ gateways }: NodeFeatures): ClusterRole {
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRole',
    metadata: { name: accountName },
    rules: gateways ? [...rules, ...gatewayRules] : rules,
  };
}

/** What a node brings beside the room for Pods. */
export interface NodeFeatures {
  readonly gateways: boolean;
}

/** The authorities of those who call kubelets; every Kubernetes has the role. */
const authoritiesBinding: RoleBinding = {
  apiVersion: rbacApiVersion,
  kind: 'RoleBinding',
  metadata: { name: 'capstan-node-authentication', namespace: 'kube-system' },
  roleRef: {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Role',
    name: 'extension-apiserver-authentication-reader',
  },
  subjects: [{ kind: 'ServiceAccount', name: accountName, namespace: systemNamespace }],
};

function storageClass(isDefault: boolean): StorageClass {
  const { annotations: _none, ...metadata } = standardStorageClass.metadata;
  return {
    ...standardStorageClass,
    metadata: { ...metadata, name: storageClassName, ...(isDefault && { annotations: { [defaultClass]: 'true' } }) },
  };
}

const roleBinding = { ...bindingOf(roleFor({ gateways: false })), subjects: authoritiesBinding.subjects ?? [] };

/** The kinds of the Gateway API, whose versions differ in name only. */
export const gatewayKindDefinitions: readonly CustomResourceDefinition[] = ownDefinitions
  .filter(({ group }) => group === gatewayGroup)
  .map((definition) => {
    const crd = customResourceDefinitionFor(definition, { labels: installedLabels });
    // API servers take kinds of groups of Kubernetes only from those who say whether they were approved.
    const annotations = {
      ...crd.metadata.annotations,
      'api-approved.kubernetes.io': 'unapproved, for simulated gateways',
    };
    return { ...crd, metadata: { ...crd.metadata, annotations } };
  });

/** Ingresses that name no class are for whoever was there before. */
const ingressClass: IngressClass = {
  ...standardIngressClass,
  metadata: { name: standardIngressClass.metadata.name ?? '' },
};

/** All a simulated node needs of a Kubernetes, in the order in which it can be applied. */
export function nodeObjects({ isDefault, ...features }: NodeFeatures & { isDefault: boolean }): KubeObject[] {
  const { namespace } = controllerIdentityObjects;
  return [
    namespace,
    account,
    roleFor(features),
    roleBinding,
    authoritiesBinding,
    directoryCsiDriver,
    storageClass(isDefault),
    ...(features.gateways ? [...gatewayKindDefinitions, standardGatewayClass, ingressClass] : []),
  ];
}

/** Applies them; the storage class is the default one where there is no other, and kinds of gateways stay where somebody brought them. */
export async function installNodeRights(
  administrator: Client,
  features: NodeFeatures,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const by = { fieldManager: 'capstan', force: true, signal };
  const { items } = await administrator.list(StorageClasses, { signal });
  const isDefault = !items.some(
    ({ metadata }) => metadata.name !== storageClassName && metadata.annotations?.[defaultClass] === 'true',
  );
  await administrator.apply(Namespaces, controllerIdentityObjects.namespace, by);
  await administrator.apply(ServiceAccounts, account, by);
  await administrator.apply(ClusterRoles, roleFor(features), by);
  await administrator.apply(ClusterRoleBindings, roleBinding, by);
  await administrator.apply(RoleBindings, authoritiesBinding, by);
  await administrator.apply(CsiDrivers, directoryCsiDriver, by);
  await administrator.apply(StorageClasses, storageClass(isDefault), by);
  if (!features.gateways) return;
  const { items: present } = await administrator.list(CustomResourceDefinitions, { signal });
  const foreign = new Set(present.filter((crd) => !isInstalledByUs(crd)).map(({ metadata }) => metadata.name));
  const missing = gatewayKindDefinitions.filter(({ metadata }) => !foreign.has(metadata.name));
  await applyKinds(administrator, missing, { clock, signal });
  await administrator.apply(GatewayClasses, standardGatewayClass, by);
  await administrator.apply(IngressClasses, ingressClass, by);
}
