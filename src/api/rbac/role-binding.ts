import { checkPathSegmentName, type Resource, type ResourceDefinition } from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import {
  type Binding,
  bindingColumns,
  bindingRow,
  defaultBinding,
  rbacGroup,
  validateBinding,
  validateRoleRefUnchanged,
} from './policy.ts';

export type RoleBinding = Binding;

const kinds = ['Role', 'ClusterRole'];

export const roleBindingDefinition: ResourceDefinition = defineBuiltin<RoleBinding>({
  group: rbacGroup,
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
  component: 'io.k8s.api.rbac.v1.RoleBinding',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: bindingColumns,
  row: bindingRow,
  applyDefaults: defaultBinding,
  validateName: checkPathSegmentName,
  validateCreate: (binding) => validateBinding(binding, kinds, { namespaced: true }),
  validateUpdate: (binding, old) => [
    ...validateBinding(binding, kinds, { namespaced: true }),
    ...validateRoleRefUnchanged(binding, old),
  ],
});

export const RoleBindings: Resource<RoleBinding> = resourceOf<RoleBinding>(roleBindingDefinition);
