import {
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type Authorizer,
  allowed,
  noOpinion,
} from './attributes.ts';
import { systemNodeRules } from './rbac/bootstrap-policy.ts';
import { type CompiledRule, compileRule, ruleAllows, ruleQuery } from './rbac/rules.ts';
import { systemGroups, type UserInfo } from './user.ts';

export type NodeRelatedKind =
  | 'secret'
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'resourceclaim'
  | 'volumeattachment'
  | 'serviceaccount'
  | 'pod';

/** Tells whether an object is, or is used by, a pod bound to the node. The owner keeps the index current. */
export interface NodeRelations {
  related(node: string, kind: NodeRelatedKind, namespace: string, name: string): boolean;
}

const nodePrefix = 'system:node:';
const nodeNamespace = 'kube-node-lease';

const withoutOpinion = (reason: string): AuthorizationDecision => ({ decision: 'noOpinion', reason });

/** Returns the node name of a user: undefined for other users, empty if the user has no node name. */
export function nodeOf(user: UserInfo): string | undefined {
  if (!user.name.startsWith(nodePrefix) || !user.groups.includes(systemGroups.nodes)) return undefined;
  return user.name.slice(nodePrefix.length);
}

/**
 * Limits a kubelet to its own node and the pods on it. Secrets, config maps, volumes and accounts are readable only if
 * one of its pods uses them. Admission restricts writes of nodes and pods.
 */
export function nodeAuthorizer(relations: NodeRelations): Authorizer {
  let rules: readonly CompiledRule[] | undefined;

  const related = (node: string, kind: NodeRelatedKind, { namespace, name }: AuthorizationAttributes) => {
    if (name === '') return withoutOpinion('No Object name found');
    return relations.related(node, kind, namespace, name)
      ? allowed
      : withoutOpinion(`no relationship found between node '${node}' and this object`);
  };

  const get = (node: string, kind: NodeRelatedKind, attributes: AuthorizationAttributes) => {
    if (attributes.verb !== 'get') return withoutOpinion('can only get individual resources of this type');
    return attributes.subresource === '' ? related(node, kind, attributes) : withoutOpinion('cannot get subresource');
  };

  const read = (node: string, kind: NodeRelatedKind, attributes: AuthorizationAttributes) => {
    if (!['get', 'list', 'watch'].includes(attributes.verb)) {
      return withoutOpinion('can only read resources of this type');
    }
    if (attributes.subresource !== '') return withoutOpinion('cannot read subresource');
    if (attributes.namespace === '') return withoutOpinion('can only read namespaced object of this type');
    return related(node, kind, attributes);
  };

  const claim = (node: string, attributes: AuthorizationAttributes) => {
    if (attributes.subresource !== 'status') return get(node, 'persistentvolumeclaim', attributes);
    return attributes.verb === 'update' || attributes.verb === 'patch'
      ? related(node, 'persistentvolumeclaim', attributes)
      : withoutOpinion('can only get/update/patch this type');
  };

  const serviceAccount = (node: string, attributes: AuthorizationAttributes) => {
    if (attributes.verb === 'get' && attributes.subresource === '') return read(node, 'serviceaccount', attributes);
    if (attributes.verb !== 'create' || attributes.name === '') {
      return withoutOpinion('can only create tokens for individual service accounts');
    }
    return attributes.subresource === 'token'
      ? related(node, 'serviceaccount', attributes)
      : withoutOpinion('can only create token subresource of serviceaccount');
  };

  const own = (node: string, what: string, attributes: AuthorizationAttributes) => {
    if (!['get', 'create', 'update', 'patch', 'delete'].includes(attributes.verb)) {
      return withoutOpinion(`can only get, create, update, patch, or delete a ${what}`);
    }
    if (what === 'node lease' && attributes.namespace !== nodeNamespace) {
      return withoutOpinion(`can only access leases in the "${nodeNamespace}" system namespace`);
    }
    if (what === 'CSINode' && attributes.subresource !== '') {
      return withoutOpinion('cannot authorize CSINode subresources');
    }
    // A create has no name yet; admission checks it.
    return attributes.verb === 'create' || attributes.name === node
      ? allowed
      : withoutOpinion(`can only access ${what} with the same name as the requesting node`);
  };

  const nodes = (node: string, { verb, subresource, name }: AuthorizationAttributes) => {
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion;
    if (subresource !== '') return noOpinion;
    if (verb === 'create' || verb === 'update' || verb === 'patch') return allowed;
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion;
    if (name === node) return allowed;
    return withoutOpinion(
      name === ''
        ? `node '${node}' cannot read all nodes, only its own Node object`
        : `node '${node}' cannot read '${name}', only its own Node object`,
    );
  };

  const pods = (node: string, attributes: AuthorizationAttributes) => {
    const { verb, subresource } = attributes;
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion;
    if (subresource === 'eviction') return verb === 'create' ? allowed : noOpinion;
    if (subresource !== '') return noOpinion;
    if (verb === 'create' || verb === 'delete') return allowed;
    if (verb === 'get') return get(node, 'pod', attributes);
    if (verb !== 'list' && verb !== 'watch') return noOpinion;
    const scoped = attributes.fieldSelector?.some(
      ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
    );
    if (scoped === true) return allowed;
    return attributes.name === ''
      ? withoutOpinion('can only list/watch pods with spec.nodeName field selector')
      : related(node, 'pod', attributes);
  };

  const decide = (node: string, attributes: AuthorizationAttributes): AuthorizationDecision | undefined => {
    switch (`${attributes.group}/${attributes.resource}`) {
      case '/secrets':
        return read(node, 'secret', attributes);
      case '/configmaps':
        return read(node, 'configmap', attributes);
      case '/persistentvolumeclaims':
        return claim(node, attributes);
      case '/persistentvolumes':
        return get(node, 'persistentvolume', attributes);
      case 'resource.k8s.io/resourceclaims':
        return get(node, 'resourceclaim', attributes);
      case 'storage.k8s.io/volumeattachments':
        return get(node, 'volumeattachment', attributes);
      case '/serviceaccounts':
        return serviceAccount(node, attributes);
      case 'coordination.k8s.io/leases':
        return own(node, 'node lease', attributes);
      case 'storage.k8s.io/csinodes':
        return own(node, 'CSINode', attributes);
      case '/nodes':
        return nodes(node, attributes);
      case '/pods':
        return pods(node, attributes);
      default:
        return undefined;
    }
  };

  return {
    authorize(attributes): AuthorizationDecision {
      const node = nodeOf(attributes.user);
      if (node === undefined) return noOpinion;
      if (node === '') return withoutOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
      const special = attributes.resourceRequest ? decide(node, attributes) : undefined;
      if (special !== undefined) return special;
      rules ??= systemNodeRules().map(compileRule);
      const query = ruleQuery(attributes);
      return rules.some((rule) => ruleAllows(rule, query)) ? allowed : noOpinion;
    },
    rulesFor: (user) => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: nodeOf(user) !== undefined,
      ...(nodeOf(user) !== undefined && {
        evaluationError: 'node authorizer does not support user rule resolution',
      }),
    }),
  };
}
