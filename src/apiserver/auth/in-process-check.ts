import { exactFieldValue, parseFieldSelector } from '../../machinery/index.ts';
import { type AuthorizationAttributes, type Authorizer, forbiddenError } from './attributes.ts';
import type { RbacIndex } from './rbac/rbac-index.ts';
import type { UserInfo } from './user.ts';

/** A request of an in-process client before any lookup. */
export interface InProcessRequest {
  readonly verb: string;
  readonly resource: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly namespaced: boolean;
  };
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Throws 403 unless the request is allowed. */
export type InProcessCheck = (request: InProcessRequest) => void;

/**
 * Authorizes in-process clients by the same rules as HTTP. A permission for all names in all namespaces, which covers
 * most requests of controllers, is cached per verb and resource until a policy object changes.
 */
export function inProcessCheck(
  user: UserInfo,
  policy: {
    readonly authorizer: Authorizer;
    /** set if RBAC decides last, so that its cluster-wide permissions can be cached */
    readonly rbac: { readonly authorizer: Authorizer; readonly index: RbacIndex } | undefined;
  },
): InProcessCheck {
  const { authorizer, rbac } = policy;
  const allowedEverywhere = new Set<string>();
  let version = -1;
  return (request) => {
    const { verb, resource, subresource = '' } = request;
    const question = `${verb} ${resource.plural}.${resource.group}/${subresource}`;
    if (rbac) {
      if (version !== rbac.index.version) {
        version = rbac.index.version;
        allowedEverywhere.clear();
      }
      if (allowedEverywhere.has(question)) return;
      const { decision } = rbac.authorizer.authorize(attributesOf(user, { verb, resource, subresource }));
      if (decision === 'allow') {
        allowedEverywhere.add(question);
        return;
      }
    }
    const attributes = attributesOf(user, request);
    const { decision, reason } = authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenError(attributes, reason);
  };
}

function attributesOf(user: UserInfo, request: InProcessRequest): AuthorizationAttributes {
  const { verb, resource, subresource = '' } = request;
  const fields = request.fieldSelector ? parseFieldSelector(request.fieldSelector) : [];
  // A list with a field selector on one name counts as a request for that name, so rules with resourceNames allow it.
  const name = request.name ?? exactFieldValue(fields, 'metadata.name') ?? '';
  const isNamespaceObject = resource.group === '' && resource.plural === 'namespaces';
  return {
    user,
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    subresource,
    name,
    namespace: isNamespaceObject ? name : ((resource.namespaced ? request.namespace : undefined) ?? ''),
    path: '',
    resourceRequest: true,
    ...(fields.length > 0 && { fieldSelector: fields }),
  };
}
