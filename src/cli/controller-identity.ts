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

/** Where what belongs to the program itself lives. */
export const systemNamespace = 'capstan-system';

export const accountName = 'capstan-controllers';
const providersRoleName = 'capstan-controllers-providers';
/** Providers of upstream put this label on the ClusterRole of their kinds: it is how core controllers may reach them. */
const aggregationLabel = 'cluster.x-k8s.io/aggregate-to-manager';
const by = { fieldManager: 'capstan', force: true };

/** Who the controllers are: the service account they would run as on any other Kubernetes, with the same rights. */
export const controllersUser: UserInfo = {
  name: serviceAccountUsername(systemNamespace, accountName),
  groups: [...serviceAccountGroups(systemNamespace), systemGroups.authenticated],
};

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const reading = ['get', 'list', 'watch'];

/** What the controllers read and write, and nothing else; the same here and on any other Kubernetes. */
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
  // what hosted control planes are made of
  { apiGroups: [''], resources: ['services', 'persistentvolumeclaims'], verbs: everything },
  // a second name of a plane's Service shows the address of the first
  { apiGroups: [''], resources: ['services/status'], verbs: ['patch'] },
  // members of an etcd that an earlier version made get the labels of today
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
  // who is behind the Service of a runtime extension
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: reading },
  // from the Service of the endpoints to the Pod that leads
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['create', 'patch', 'update', 'delete'] },
  // data stores of Kamaji that are run here live in a namespace of their own, and so does each LatticeCluster
  { apiGroups: [''], resources: ['namespaces'], verbs: [...reading, 'create'] },
  { apiGroups: [''], resources: ['nodes'], verbs: reading },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update', 'get'] },
  { apiGroups: ['openstack.k-orc.cloud'], resources: ['images', 'images/status'], verbs: everything },
  // certificates that manifests of providers bring for their webhooks, where this program runs their Pods
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
  // of the leader, and of all who share the work
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

/** Kinds of providers somebody else runs, in groups nobody knows in advance. Its rules are the server's to gather. */
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

/** The account of the controllers and their rights, in the order in which they can be applied. */
export const controllerIdentityObjects: {
  readonly namespace: Namespace;
  readonly account: ServiceAccount;
  readonly roles: readonly ClusterRole[];
  readonly bindings: readonly ClusterRoleBinding[];
} = { namespace, account, roles, bindings: roles.map(bindingOf) };

/** Brings account and rights of the controllers to what this program's version needs. Nothing is written when they are. */
export async function ensureControllerIdentity(client: Client, signal: AbortSignal): Promise<void> {
  const options = { ...by, signal };
  await ensureExists(client, Namespaces, namespace, signal);
  await Promise.all([
    ensureExists(client, ServiceAccounts, account, signal),
    ...roles.map((role) => client.apply(ClusterRoles, role, options)),
    ...controllerIdentityObjects.bindings.map((binding) => client.apply(ClusterRoleBindings, binding, options)),
  ]);
}

/** There is nothing to say about it but that it is there. */
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
