import {
  checkPathSegmentName,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { createdAtColumns, createdAtRow } from '../common/printing.ts';
import { type PolicyRule, rbacGroup, validateRules } from './policy.ts';

export interface Role extends KubeObject {
  rules?: PolicyRule[];
}

export const roleDefinition: ResourceDefinition = defineBuiltin<Role>({
  group: rbacGroup,
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  namespaced: true,
  component: 'io.k8s.api.rbac.v1.Role',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: createdAtColumns,
  row: createdAtRow,
  validateName: checkPathSegmentName,
  validateCreate: (role) => validateRules(role.rules, { namespaced: true }),
  validateUpdate: (role) => validateRules(role.rules, { namespaced: true }),
});

export const Roles: Resource<Role> = resourceOf<Role>(roleDefinition);
