import {
  type ClusterRole,
  ClusterRoleBindings,
  ClusterRoles,
  CsiDrivers,
  Namespaces,
  type RoleBinding,
  RoleBindings,
  type ServiceAccount,
  ServiceAccounts,
  type StorageClass,
  StorageClasses,
} from '../../api/index.ts';
import { serviceAccountGroups, serviceAccountUsername, systemGroups, type UserInfo } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { directoryCsiDriver, standardStorageClass } from '../../podhost/index.ts';
import { bindingOf, controllerIdentityObjects, systemNamespace } from '../controller-identity.ts';

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

const role: ClusterRole = {
  apiVersion: rbacApiVersion,
  kind: 'ClusterRole',
  metadata: { name: accountName },
  rules: [
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
  ],
};

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

const roleBinding = { ...bindingOf(role), subjects: authoritiesBinding.subjects ?? [] };

/** All a simulated node needs of a Kubernetes, in the order in which it can be applied. */
export function nodeObjects({ isDefault }: { isDefault: boolean }): KubeObject[] {
  const { namespace } = controllerIdentityObjects;
  return [namespace, account, role, roleBinding, authoritiesBinding, directoryCsiDriver, storageClass(isDefault)];
}

/** Applies them; the storage class is the default one where there is no other. */
export async function installNodeRights(administrator: Client, signal: AbortSignal): Promise<void> {
  const by = { fieldManager: 'capstan', force: true, signal };
  const { items } = await administrator.list(StorageClasses, { signal });
  const isDefault = !items.some(
    ({ metadata }) => metadata.name !== storageClassName && metadata.annotations?.[defaultClass] === 'true',
  );
  await administrator.apply(Namespaces, controllerIdentityObjects.namespace, by);
  await administrator.apply(ServiceAccounts, account, by);
  await administrator.apply(ClusterRoles, role, by);
  await administrator.apply(ClusterRoleBindings, roleBinding, by);
  await administrator.apply(RoleBindings, authoritiesBinding, by);
  await administrator.apply(CsiDrivers, directoryCsiDriver, by);
  await administrator.apply(StorageClasses, storageClass(isDefault), by);
}
