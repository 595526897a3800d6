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

/** Kinds a plane is made of that every management API serves: they are followed, so that nothing has to be asked for. */
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

/** Plurals of kinds that only some management APIs serve. */
const plurals: Readonly<Record<string, string>> = {
  TLSRoute: 'tlsroutes',
  ReferenceGrant: 'referencegrants',
  CiliumNetworkPolicy: 'ciliumnetworkpolicies',
};

/** Tells one object of a management API from all others. */
export function objectId(resource: Resource, object: KubeObject): string {
  return `${resourceId(resource)} ${formatKey(objectKey(object))}`;
}

/** The resource an object is written to. */
export function resourceOfObject({ apiVersion, kind }: KubeObject): Resource<KubeObject> {
  const found = known.get(`${apiVersion} ${kind}`);
  if (found) return found;
  const { group, version } = parseApiVersion(apiVersion);
  return { group, version, kind, plural: plurals[kind] ?? `${kind.toLowerCase()}s`, namespaced: true };
}
