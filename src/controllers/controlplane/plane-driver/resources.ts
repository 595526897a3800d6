import {
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  CronJobs,
  DaemonSets,
  Deployments,
  Ingresses,
  Namespaces,
  NetworkPolicies,
  PodDisruptionBudgets,
  RoleBindings,
  Roles,
  Secrets,
  ServiceAccounts,
  Services,
  StatefulSets,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '../../../api/index.ts';
import { formatKey, objectKey, resourceId } from '../../../client/index.ts';
import { formatApiVersion, type KubeObject, parseApiVersion, type Resource } from '../../../machinery/index.ts';

/** Kinds of plane objects that every management API serves; they are watched. */
export const followedResources: readonly Resource<KubeObject>[] = [
  Services,
  ConfigMaps,
  Secrets,
  StatefulSets,
  Deployments,
  Ingresses,
  NetworkPolicies,
  PodDisruptionBudgets,
  CronJobs,
];

const known: ReadonlyMap<string, Resource<KubeObject>> = new Map(
  [
    ...followedResources,
    ServiceAccounts,
    Roles,
    RoleBindings,
    ClusterRoles,
    ClusterRoleBindings,
    DaemonSets,
    Namespaces,
    ValidatingAdmissionPolicies,
    ValidatingAdmissionPolicyBindings,
  ].map((resource) => [`${formatApiVersion(resource.group, resource.version)} ${resource.kind}`, resource]),
);

/** Plurals of kinds that not every management API serves. */
const plurals: Readonly<Record<string, string>> = {
  TLSRoute: 'tlsroutes',
  ReferenceGrant: 'referencegrants',
  CiliumNetworkPolicy: 'ciliumnetworkpolicies',
};

/** Key of an object in the management API. */
export function objectId(resource: Resource, object: KubeObject): string {
  return `${resourceId(resource)} ${formatKey(objectKey(object))}`;
}

export function resourceOfObject({ apiVersion, kind }: KubeObject): Resource<KubeObject> {
  const found = known.get(`${apiVersion} ${kind}`);
  if (found) return found;
  const { group, version } = parseApiVersion(apiVersion);
  return { group, version, kind, plural: plurals[kind] ?? `${kind.toLowerCase()}s`, namespaced: true };
}
