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

export type ClusterRoleBinding = Binding;

const kinds = ['ClusterRole'];

export const clusterRoleBindingDefinition: ResourceDefinition = defineBuiltin<ClusterRoleBinding>({
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
  component: 'io.k8s.api.rbac.v1.ClusterRoleBinding',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: bindingColumns,
  row: bindingRow,
  applyDefaults: defaultBinding,
  validateName: checkPathSegmentName,
  validateCreate: (binding) => validateBinding(binding, kinds, { namespaced: false }),
  validateUpdate: (binding, old) => [
    ...validateBinding(binding, kinds, { namespaced: false }),
    ...validateRoleRefUnchanged(binding, old),
  ],
});

export const ClusterRoleBindings: Resource<ClusterRoleBinding> =
  resourceOf<ClusterRoleBinding>(clusterRoleBindingDefinition);
