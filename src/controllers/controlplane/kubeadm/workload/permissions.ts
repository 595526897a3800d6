import {
  type ClusterRole,
  type ClusterRoleBinding,
  ClusterRoleBindings,
  ClusterRoles,
  type Role,
  type RoleBinding,
  RoleBindings,
  Roles,
} from '../../../../api/index.ts';
import { type Client, objectKey } from '../../../../client/index.ts';
import { isAlreadyExists, isNotFound, type KubeObject, type Resource } from '../../../../machinery/index.ts';
import { fieldManager } from '../../../shared/index.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const joiningGroup = 'system:bootstrappers:kubeadm:default-node-token';

/** Creates RBAC objects that newer kubeadm versions need and only `kubeadm init` creates. */
export async function ensurePermissions(client: Client, minor: number, signal: AbortSignal): Promise<void> {
  // joining machines check whether a Node with their name exists
  await ensure(client, ClusterRoles, getNodes, signal);
  await ensure(
    client,
    ClusterRoleBindings,
    bindingOf('kubeadm:get-nodes', 'kubeadm:get-nodes', 'Group', joiningGroup),
    signal,
  );
  if (minor >= 29) {
    const admins = bindingOf('kubeadm:cluster-admins', 'cluster-admin', 'Group', 'kubeadm:cluster-admins');
    await ensure(client, ClusterRoleBindings, admins, signal);
  }
  const kubeletClient = bindingOf(
    'kubeadm:apiserver-kubelet-client',
    'system:kubelet-api-admin',
    'User',
    'kube-apiserver-kubelet-client',
  );
  await ensure(client, ClusterRoleBindings, kubeletClient, signal);
}

const getNodes: ClusterRole = {
  apiVersion: rbac,
  kind: 'ClusterRole',
  metadata: { name: 'kubeadm:get-nodes' },
  rules: [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }],
};

function bindingOf(name: string, role: string, kind: 'Group' | 'User', subject: string): ClusterRoleBinding {
  return {
    apiVersion: rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ kind, apiGroup, name: subject }],
  };
}

/** Grants kubelets and joining machines access to the kubelet configuration. */
export async function ensureKubeletConfigAccess(client: Client, configMap: string, signal: AbortSignal): Promise<void> {
  const name = `kubeadm:${configMap}`;
  const metadata = { name, namespace: 'kube-system' };
  const role: Role = {
    apiVersion: rbac,
    kind: 'Role',
    metadata,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap] }],
  };
  const binding: RoleBinding = {
    apiVersion: rbac,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: ['system:nodes', joiningGroup].map((group) => ({ kind: 'Group', apiGroup, name: group })),
  };
  await ensure(client, Roles, role, signal);
  await ensure(client, RoleBindings, binding, signal);
}

/** Creates an object if it is missing; changes by administrators are kept. */
async function ensure<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.get(resource, objectKey(object), { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(resource, object, { fieldManager, signal }).catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
    });
  }
}
