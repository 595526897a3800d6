import { type AuthorizationQuestion, CelAuthorizer, parseFieldSelector } from '../../machinery/index.ts';
import {
  type Authorizer,
  serviceAccountGroups,
  serviceAccountUsername,
  systemGroups,
  type UserInfo,
} from '../auth/index.ts';
import type { AdmissionRequest } from './types.ts';

/** Builds the CEL variable `authorizer`, which checks the permissions of the sender of a request. */
export function celAuthorizer(
  authorizer: Authorizer,
  { caller, target, subresource }: AdmissionRequest,
): CelAuthorizer {
  const { group, plural } = target.resource.definition;
  const check = (question: AuthorizationQuestion): { allowed: boolean; reason: string } => {
    const { decision, reason } = authorizer.authorize({
      user: userOf(question, caller.user),
      verb: question.verb,
      group: question.group ?? '',
      version: question.resource === undefined ? '' : '*',
      resource: question.resource ?? '',
      subresource: question.subresource ?? '',
      name: question.name ?? '',
      namespace: question.namespace ?? '',
      path: question.path ?? '',
      resourceRequest: question.path === undefined,
      ...(question.fieldSelector !== undefined && { fieldSelector: requirementsOf(question.fieldSelector) }),
    });
    return { allowed: decision === 'allow', reason };
  };
  return new CelAuthorizer(check, {
    group,
    resource: plural,
    subresource: subresource ?? '',
    namespace: target.namespace ?? '',
    name: target.name,
  });
}

function userOf({ serviceAccount }: AuthorizationQuestion, sender: UserInfo): UserInfo {
  if (!serviceAccount) return sender;
  const { namespace, name } = serviceAccount;
  return {
    name: serviceAccountUsername(namespace, name),
    groups: [...serviceAccountGroups(namespace), systemGroups.authenticated],
  };
}

/** An invalid selector adds no requirements. */
function requirementsOf(selector: string): ReturnType<typeof parseFieldSelector> {
  try {
    return parseFieldSelector(selector);
  } catch {
    return [];
  }
}
