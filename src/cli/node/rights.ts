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
  gatewayRules,
  providerRules,
  standardGatewayClass,
  standardIngressClass,
  standardStorageClass,
} from '../../podhost/index.ts';
import { customResourceDefinitionFor } from '../../webhooks/index.ts';
import { bindingOf, controllerIdentityObjects, systemNamespace } from '../controller-identity.ts';
import { applyKinds } from '../install/apply-kinds.ts';
import { installedLabels, isInstalledByUs } from '../install/labels.ts';

const accountName = 'capstan-node';
/** `standard` may already exist on a foreign Kubernetes. */
export const storageClassName = 'capstan-simulated';
const defaultClass = 'storageclass.kubernetes.io/is-default-class';
const rbacApiVersion = 'rbac.authorization.k8s.io/v1';

/** Service account that provisions volumes and addresses of Services. */
export const providerUser: UserInfo = {
  name: serviceAccountUsername(systemNamespace, accountName),
  groups: [...serviceAccountGroups(systemNamespace), systemGroups.authenticated],
};

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: accountName, namespace: systemNamespace },
};

function roleFor({ gateways }: NodeFeatures): ClusterRole {
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRole',
    metadata: { name: accountName },
    rules: gateways ? [...providerRules, ...gatewayRules] : providerRules,
  };
}

export interface NodeFeatures {
  readonly gateways: boolean;
}

/** Gives access to the CAs of kubelet clients; every Kubernetes has this role. */
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

/** Definitions of the Gateway API, whose versions differ only in name. */
export const gatewayKindDefinitions: readonly CustomResourceDefinition[] = ownDefinitions
  .filter(({ group }) => group === gatewayGroup)
  .map((definition) => {
    const crd = customResourceDefinitionFor(definition, { labels: installedLabels });
    // API servers require an approval annotation on definitions of Kubernetes groups.
    const annotations = {
      ...crd.metadata.annotations,
      'api-approved.kubernetes.io': 'unapproved, for simulated gateways',
    };
    return { ...crd, metadata: { ...crd.metadata, annotations } };
  });

/** Ingresses without class belong to the controller that was there first. */
const ingressClass: IngressClass = {
  ...standardIngressClass,
  metadata: { name: standardIngressClass.metadata.name ?? '' },
};

/** Builds all objects that a simulated node needs, in apply order. */
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

/**
 * Applies these objects. The storage class becomes the default if there is no other, and existing Gateway API kinds are
 * kept.
 */
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
