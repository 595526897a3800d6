import type { UserInfo } from '../user.ts';
import { serviceAccountUsername } from '../user.ts';
import { type CompiledRule, compileRule } from './rules.ts';
import type { ClusterRole, ClusterRoleBinding, RbacSubject, Role, RoleBinding, RoleRef } from './types.ts';

export type RbacObject =
  | { kind: 'Role'; object: Role }
  | { kind: 'ClusterRole'; object: ClusterRole }
  | { kind: 'RoleBinding'; object: RoleBinding }
  | { kind: 'ClusterRoleBinding'; object: ClusterRoleBinding };

export type RbacKind = RbacObject['kind'];

/** The fields of a binding that the index keeps; the rest, above all managed fields, is several times as large. */
type KeptBinding = Pick<RoleBinding, 'roleRef' | 'subjects'>;

/** A subject of a binding, indexed by the name it matches. */
export interface Grant {
  readonly binding: KeptBinding;
  readonly roleRef: RoleRef;
  /** empty for a ClusterRoleBinding */
  readonly namespace: string;
  /** text in decisions: `ClusterRoleBinding "b" of ClusterRole "r" to User "u"` */
  readonly description: string;
}

type GrantsBySubject = Map<string, Grant[]>;

const userKey = (name: string): string => `u:${name}`;
const groupKey = (name: string): string => `g:${name}`;
const noGrants: readonly Grant[] = [];
const noRules: readonly CompiledRule[] = [];

function describeSubject(subject: RbacSubject, bindingNamespace: string): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind} ${JSON.stringify(subject.name)}`;
  const namespace = subject.namespace || bindingNamespace;
  return `ServiceAccount ${JSON.stringify(`${subject.name}/${namespace}`)}`;
}

function subjectKey(subject: RbacSubject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case 'User':
      return userKey(subject.name);
    case 'Group':
      return groupKey(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace === '' ? undefined : userKey(serviceAccountUsername(namespace, subject.name));
    }
    default:
      return undefined;
  }
}

/**
 * Indexes the RBAC objects of a server, so that a request checks only the bindings of its user and groups. The owner
 * passes in every change.
 */
export class RbacIndex {
  #version = 0;
  readonly #roles = new Map<string, readonly CompiledRule[]>();
  readonly #clusterRoles = new Map<string, readonly CompiledRule[]>();
  readonly #clusterGrants: GrantsBySubject = new Map();
  readonly #grantsByNamespace = new Map<string, GrantsBySubject>();
  readonly #bindings = new Map<string, KeptBinding>();

  /** Increases with every change; caches of decisions compare it. */
  get version(): number {
    return this.#version;
  }

  set(kind: RbacKind, object: Role | RoleBinding): void {
    this.#version++;
    const namespace = object.metadata.namespace ?? '';
    const name = object.metadata.name ?? '';
    switch (kind) {
      case 'Role':
        this.#roles.set(`${namespace}/${name}`, ((object as Role).rules ?? []).map(compileRule));
        break;
      case 'ClusterRole':
        this.#clusterRoles.set(name, ((object as Role).rules ?? []).map(compileRule));
        break;
      case 'RoleBinding':
        this.#unbind(namespace, name);
        this.#bind(object as RoleBinding, namespace, name);
        break;
      case 'ClusterRoleBinding':
        this.#unbind('', name);
        this.#bind(object as RoleBinding, '', name);
        break;
    }
  }

  delete(kind: RbacKind, namespace: string, name: string): void {
    this.#version++;
    switch (kind) {
      case 'Role':
        this.#roles.delete(`${namespace}/${name}`);
        break;
      case 'ClusterRole':
        this.#clusterRoles.delete(name);
        break;
      case 'RoleBinding':
        this.#unbind(namespace, name);
        break;
      case 'ClusterRoleBinding':
        this.#unbind('', name);
        break;
    }
  }

  /** Returns the rules that a binding in `namespace` refers to; undefined if the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly CompiledRule[] | undefined {
    if (roleRef.kind === 'ClusterRole') return this.#clusterRoles.get(roleRef.name);
    return roleRef.kind === 'Role' ? this.#roles.get(`${namespace}/${roleRef.name}`) : undefined;
  }

  /**
   * Calls `visit` for each grant of a user: cluster-wide grants first, then grants of the namespace. A binding that
   * matches the user several times is visited several times. Stops when `visit` returns true.
   */
  visitGrants(user: UserInfo, namespace: string, visit: (grant: Grant) => boolean): void {
    if (visitSubjects(this.#clusterGrants, user, visit) || namespace === '') return;
    const local = this.#grantsByNamespace.get(namespace);
    if (local !== undefined) visitSubjects(local, user, visit);
  }

  /** Returns all rules of a user in a namespace and the unresolved roles. Each binding counts once. */
  rulesFor(user: UserInfo, namespace: string): { rules: CompiledRule[]; errors: string[] } {
    const seen = new Set<KeptBinding>();
    const grants: Grant[] = [];
    this.visitGrants(user, namespace, (grant) => {
      if (!seen.has(grant.binding)) {
        seen.add(grant.binding);
        grants.push(grant);
      }
      return false;
    });
    const errors: string[] = [];
    const rules = grants.flatMap((grant) => {
      const found = this.rulesOf(grant.roleRef, grant.namespace);
      if (found === undefined) errors.push(missingRole(grant.roleRef));
      return found ?? noRules;
    });
    return { rules, errors };
  }

  #bind({ roleRef, subjects }: RoleBinding, namespace: string, name: string): void {
    const binding: KeptBinding = { roleRef, ...(subjects && { subjects }) };
    this.#bindings.set(`${namespace}/${name}`, binding);
    const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
    const shown = namespace === '' ? name : `${name}/${namespace}`;
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const grants = this.#grants(namespace);
      const grant: Grant = {
        binding,
        roleRef,
        namespace,
        description: `${kind} ${JSON.stringify(shown)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${describeSubject(subject, namespace)}`,
      };
      const list = grants.get(key);
      if (list === undefined) grants.set(key, [grant]);
      else list.push(grant);
    }
  }

  #unbind(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    const grants = this.#grants(namespace);
    for (const subject of binding.subjects ?? []) {
      const subjectName = subjectKey(subject, namespace);
      if (subjectName === undefined) continue;
      const left = (grants.get(subjectName) ?? noGrants).filter((grant) => grant.binding !== binding);
      if (left.length === 0) grants.delete(subjectName);
      else grants.set(subjectName, left);
    }
    if (namespace !== '' && grants.size === 0) this.#grantsByNamespace.delete(namespace);
  }

  #grants(namespace: string): GrantsBySubject {
    if (namespace === '') return this.#clusterGrants;
    let grants = this.#grantsByNamespace.get(namespace);
    if (grants === undefined) {
      grants = new Map();
      this.#grantsByNamespace.set(namespace, grants);
    }
    return grants;
  }
}

function visitSubjects(grants: GrantsBySubject, user: UserInfo, visit: (grant: Grant) => boolean): boolean {
  for (const grant of grants.get(userKey(user.name)) ?? noGrants) if (visit(grant)) return true;
  for (const group of user.groups) {
    for (const grant of grants.get(groupKey(group)) ?? noGrants) if (visit(grant)) return true;
  }
  return false;
}

/** Upstream's message for a binding with a missing role. */
export function missingRole(roleRef: RoleRef): string {
  return roleRef.kind === 'Role' || roleRef.kind === 'ClusterRole'
    ? `${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`
    : `unsupported role reference kind: ${JSON.stringify(roleRef.kind)}`;
}
