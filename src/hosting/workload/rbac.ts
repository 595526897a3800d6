import type { KubeObject } from '../../machinery/index.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

export type Subject =
  | readonly [kind: 'Group' | 'User', name: string]
  | readonly [kind: 'ServiceAccount', name: string, namespace: string];
export type RoleReference = readonly [kind: 'Role' | 'ClusterRole', name: string];

export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Builds a Role, or without a namespace a ClusterRole. */
export function role(name: string, namespace: string | undefined, rules: readonly RoleRule[]): KubeObject {
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    rules,
  } as KubeObject;
}

/** Builds a RoleBinding, or without a namespace a ClusterRoleBinding. */
export function binding(
  name: string,
  namespace: string | undefined,
  [kind, roleName]: RoleReference,
  subjects: readonly Subject[],
): KubeObject {
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: group, kind, name: roleName },
    subjects: subjects.map(([subject, subjectName, subjectNamespace]) => ({
      kind: subject,
      name: subjectName,
      ...(subjectNamespace === undefined ? { apiGroup: group } : { namespace: subjectNamespace }),
    })),
  } as KubeObject;
}

export function serviceAccount(name: string, namespace = 'kube-system'): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}

export function workloadConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data } as KubeObject;
}
