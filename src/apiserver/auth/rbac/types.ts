import type { KubeObject, LabelSelectorObject } from '../../../machinery/index.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';
export const rbacApiVersion = 'rbac.authorization.k8s.io/v1';

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

export interface RbacSubject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface Role extends KubeObject {
  rules?: PolicyRule[] | null;
}

export interface ClusterRole extends Role {
  aggregationRule?: { clusterRoleSelectors?: LabelSelectorObject[] };
}

export interface RoleBinding extends KubeObject {
  subjects?: RbacSubject[] | null;
  roleRef: RoleRef;
}

export type ClusterRoleBinding = RoleBinding;
