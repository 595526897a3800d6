import {
  checkPathSegmentName,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { createdAtColumns, createdAtRow } from '../common/printing.ts';
import { type AggregationRule, type PolicyRule, rbacGroup, validateAggregation, validateRules } from './policy.ts';

export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[];
  aggregationRule?: AggregationRule;
}

export const clusterRoleDefinition: ResourceDefinition = defineBuiltin<ClusterRole>({
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
  component: 'io.k8s.api.rbac.v1.ClusterRole',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: createdAtColumns,
  row: createdAtRow,
  validateName: checkPathSegmentName,
  validateCreate: (role) => [
    ...validateRules(role.rules, { namespaced: false }),
    ...validateAggregation(role.aggregationRule),
  ],
  validateUpdate: (role) => [
    ...validateRules(role.rules, { namespaced: false }),
    ...validateAggregation(role.aggregationRule),
  ],
});

export const ClusterRoles: Resource<ClusterRole> = resourceOf<ClusterRole>(clusterRoleDefinition);
