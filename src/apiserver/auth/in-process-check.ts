import { exactFieldValue, parseFieldSelector } from '../../machinery/index.ts';
import { type AuthorizationAttributes, type Authorizer, forbiddenError } from './attributes.ts';
import type { RbacIndex } from './rbac/rbac-index.ts';
import type { UserInfo } from './user.ts';

/** A request of a client in the same process, before anything is looked up for it. */
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
 * Asks for a client in the same process what HTTP would ask. What the rules allow for all names in all namespaces, nearly
 * everything a controller does, is asked once per verb and resource until a policy object changes.
 */
export function inProcessCheck(
  user: UserInfo,
  policy: {
    readonly authorizer: Authorizer;
    /** set where RBAC has the last word: then what it allows everywhere need not be asked again */
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
  // Reading one object by a field selector is reading that object: rules with resourceNames allow it.
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
