import { type ApiStatusError, asTyped, must, type UnstructuredObject } from '../../machinery/index.ts';
import {
  type Authorizer,
  type ClusterRole,
  checkBindingEscalation,
  checkRoleEscalation,
  type EscalationContext,
  type RbacIndex,
  type RoleBinding,
} from '../auth/index.ts';
import type { AdmissionStep } from './types.ts';

/** Prevents users from granting permissions that they do not hold. */
export function rbacEscalation(index: RbacIndex, authorizer: Authorizer): AdmissionStep {
  return {
    name: 'RBACEscalation',
    concerns: ({ group }) => group === 'rbac.authorization.k8s.io',
    operations: ['CREATE', 'UPDATE'],
    validate({ target, caller, object, oldObject }) {
      const context: EscalationContext = {
        user: caller.user,
        index,
        authorizer,
        resource: target.resource.definition.plural as EscalationContext['resource'],
        namespace: target.namespace ?? '',
      };
      const refused = check(context, must(object, 'object'), oldObject);
      if (refused) throw refused;
    },
  };
}

function check(
  context: EscalationContext,
  object: UnstructuredObject,
  old: UnstructuredObject | undefined,
): ApiStatusError | undefined {
  if (context.resource === 'roles' || context.resource === 'clusterroles') {
    return checkRoleEscalation(context, asTyped<ClusterRole>(object), old && asTyped<ClusterRole>(old));
  }
  return checkBindingEscalation(context, asTyped<RoleBinding>(object));
}
