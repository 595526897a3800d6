import {
  type ClusterRole,
  type ClusterRoleBinding,
  ClusterRoleBindings,
  ClusterRoles,
  type Namespace,
  Namespaces,
  type ServiceAccount,
  ServiceAccounts,
} from '../api/index.ts';
import { serviceAccountGroups, serviceAccountUsername, systemGroups, type UserInfo } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { isAlreadyExists, type KubeObject, type Resource } from '../machinery/index.ts';

/** Namespace of the program's own objects. */
export const systemNamespace = 'capstan-system';

export const accountName = 'capstan-controllers';
const providersRoleName = 'capstan-controllers-providers';
/** Upstream providers put this label on the ClusterRole of their kinds, to give core controllers access. */
const aggregationLabel = 'cluster.x-k8s.io/aggregate-to-manager';
const by = { fieldManager: 'capstan', force: true };

/** The service account of the controllers, with the same permissions as on any other Kubernetes. */
export const controllersUser: UserInfo = {
  name: serviceAccountUsername(systemNamespace, accountName),
  groups: [...serviceAccountGroups(systemNamespace), systemGroups.authenticated],
};

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const reading = ['get', 'list', 'watch'];

/** Permissions of the controllers, the same in the embedded API and on any other Kubernetes. */
const rules: NonNullable<ClusterRole['rules']> = [
  {
    apiGroups: [
      'cluster.x-k8s.io',
      'bootstrap.cluster.x-k8s.io',
      'controlplane.cluster.x-k8s.io',
      'infrastructure.cluster.x-k8s.io',
      'ipam.cluster.x-k8s.io',
      'addons.cluster.x-k8s.io',
      'clusterstack.x-k8s.io',
      'infrastructure.clusterstack.x-k8s.io',
      'runtime.cluster.x-k8s.io',
      'k0smotron.io',
      'kamaji.clastix.io',
      'lattice.dev',
    ],
    resources: ['*'],
    verbs: everything,
  },
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: everything },
  // parts of hosted control planes
  { apiGroups: [''], resources: ['services', 'persistentvolumeclaims'], verbs: everything },
  // an additional Service of a control plane shows the address of the main one
  { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  // etcd members created by an earlier version get the current labels
  { apiGroups: [''], resources: ['pods'], verbs: [...reading, 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] },
  { apiGroups: ['apps'], resources: ['statefulsets', 'deployments'], verbs: everything },
  { apiGroups: ['apps'], resources: ['replicasets'], verbs: reading },
  { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs: everything },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'networkpolicies'], verbs: everything },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: everything },
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['tlsroutes', 'referencegrants'], verbs: everything },
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['gateways'], verbs: reading },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: reading },
  // backends of a runtime extension's Service
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: reading },
  // from the Service of the endpoints to the leading Pod
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['create', 'patch', 'update', 'delete'] },
  // built-in Kamaji datastores and LatticeClusters have namespaces of their own
  { apiGroups: [''], resources: ['namespaces'], verbs: [...reading, 'create'] },
  { apiGroups: [''], resources: ['nodes'], verbs: reading },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update', 'get'] },
  { apiGroups: ['openstack.k-orc.cloud'], resources: ['images', 'images/status'], verbs: everything },
  // certificates in provider manifests for webhooks whose Pods this program runs
  {
    apiGroups: ['cert-manager.io'],
    resources: ['certificates', 'issuers', 'clusterissuers'],
    verbs: reading,
  },
  {
    apiGroups: ['cert-manager.io'],
    resources: ['certificates/status', 'issuers/status', 'clusterissuers/status'],
    verbs: ['patch', 'update'],
  },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: reading },
  // leases of the leader and of all sharded instances
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: [...reading, 'create', 'update', 'patch', 'delete'],
  },
];

const rbacApiVersion = 'rbac.authorization.k8s.io/v1';

const controllersRole: ClusterRole = {
  apiVersion: rbacApiVersion,
  kind: 'ClusterRole',
  metadata: { name: accountName },
  rules,
};

/** Kinds of other providers in groups unknown in advance. The server aggregates its rules. */
const providersRole: ClusterRole = {
  apiVersion: rbacApiVersion,
  kind: 'ClusterRole',
  metadata: { name: providersRoleName },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel]: 'true' } }] },
};

export function bindingOf({ metadata: { name = '' } }: ClusterRole): ClusterRoleBinding {
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: accountName, namespace: systemNamespace }],
  };
}

const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: accountName, namespace: systemNamespace },
};

const roles: readonly ClusterRole[] = [controllersRole, providersRole];

/** Service account and permissions of the controllers, in apply order. */
export const controllerIdentityObjects: {
  readonly namespace: Namespace;
  readonly account: ServiceAccount;
  readonly roles: readonly ClusterRole[];
  readonly bindings: readonly ClusterRoleBinding[];
} = { namespace, account, roles, bindings: roles.map(bindingOf) };

/** Updates account and permissions for this program version. Writes nothing if they are current. */
export async function ensureControllerIdentity(client: Client, signal: AbortSignal): Promise<void> {
  const options = { ...by, signal };
  await ensureExists(client, Namespaces, namespace, signal);
  await Promise.all([
    ensureExists(client, ServiceAccounts, account, signal),
    ...roles.map((role) => client.apply(ClusterRoles, role, options)),
    ...controllerIdentityObjects.bindings.map((binding) => client.apply(ClusterRoleBindings, binding, options)),
  ]);
}

/** Creates an object that only has to exist. */
async function ensureExists<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(resource, object, { fieldManager: by.fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
