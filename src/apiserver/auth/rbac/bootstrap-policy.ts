import { type KubeObject, must } from '../../../machinery/index.ts';
import { aggregate } from './aggregation.ts';
import {
  bindingTable,
  clusterBindingTable,
  clusterRoleTable,
  controllerRoleTable,
  roleTable,
} from './bootstrap-tables.ts';
import {
  type ClusterRole,
  type ClusterRoleBinding,
  type PolicyRule,
  type RbacSubject,
  type Role,
  type RoleBinding,
  rbacApiVersion,
  rbacGroup,
} from './types.ts';

const verbGroups: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
};

export function parseRule(line: string): PolicyRule {
  const match = /^(\S+) (\S+): ([^[]+?)(?: \[(.+)\])?$/.exec(line);
  if (match === null) throw new SyntaxError(`not a rule: ${line}`);
  const [, verbList = '', groupList = '', targets = '', names] = match;
  const verbs = verbList.split(',').flatMap((verb) => verbGroups[verb] ?? [verb]);
  if (verbList.includes(',')) verbs.sort();
  if (groupList === 'path') return { nonResourceURLs: targets.split(' '), verbs };
  return {
    apiGroups: groupList.split(',').map((group) => (group === 'core' ? '' : group)),
    ...(names !== undefined && { resourceNames: names.split(' ') }),
    resources: targets.split(' '),
    verbs,
  };
}

function metadata(name: string, namespace?: string, labels: Record<string, string> = {}): KubeObject['metadata'] {
  return {
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    name,
    ...(namespace !== undefined && { namespace }),
  };
}

function parseSubject(text: string): RbacSubject {
  const [kind, name = ''] = text.split(' ');
  if (kind === 'account') {
    const slash = name.indexOf('/');
    return { kind: 'ServiceAccount', name: name.slice(slash + 1), namespace: name.slice(0, slash) };
  }
  return { apiGroup: rbacGroup, kind: kind === 'user' ? 'User' : 'Group', name };
}

function clusterRole(name: string, lines: readonly string[]): ClusterRole {
  const into = /^system:aggregate-to-(.+)$/.exec(name)?.[1];
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRole',
    metadata: metadata(
      name,
      undefined,
      into === undefined ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${into}`]: 'true' },
    ),
    rules: lines.map(parseRule),
  };
}

/** admin, edit and view aggregate labelled roles; admin includes edit, and edit includes view. */
function aggregatedRole(name: string, partOf: string | undefined): ClusterRole {
  return {
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' } }],
    },
    apiVersion: rbacApiVersion,
    kind: 'ClusterRole',
    metadata: metadata(
      name,
      undefined,
      partOf === undefined ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${partOf}`]: 'true' },
    ),
    rules: [],
  };
}

function binding(
  kind: 'ClusterRoleBinding' | 'RoleBinding',
  meta: KubeObject['metadata'],
  role: { kind: 'ClusterRole' | 'Role'; name: string },
  subjects: readonly string[],
): RoleBinding {
  return {
    apiVersion: rbacApiVersion,
    kind,
    metadata: meta,
    roleRef: { apiGroup: rbacGroup, ...role },
    ...(subjects.length > 0 && { subjects: subjects.map(parseSubject) }),
  };
}

function splitKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

function clusterRoles(): ClusterRole[] {
  const roles = [
    ...Object.entries(clusterRoleTable).map(([name, lines]) => clusterRole(name, lines)),
    ...Object.entries(controllerRoleTable).map(([name, lines]) => clusterRole(`system:controller:${name}`, lines)),
  ];
  // Innermost role first, because each one includes the rules of the previous one.
  for (const [name, partOf] of [
    ['view', 'edit'],
    ['edit', 'admin'],
    ['admin', undefined],
  ] as const) {
    const role = aggregatedRole(name, partOf);
    roles.push({ ...role, rules: aggregate(role, roles) });
  }
  return roles;
}

function clusterRoleBindings(): ClusterRoleBinding[] {
  const named: [string, readonly string[]][] = [
    ...Object.entries(clusterBindingTable),
    ...Object.keys(controllerRoleTable).map((name): [string, readonly string[]] => [
      `system:controller:${name}`,
      [`account kube-system/${name}`],
    ]),
  ];
  return named.map(([name, subjects]) =>
    binding('ClusterRoleBinding', metadata(name), { kind: 'ClusterRole', name }, subjects),
  );
}

/** Returns the rules of system:node, which the node authorizer also uses. */
export function systemNodeRules(): PolicyRule[] {
  return must(clusterRoleTable['system:node'], 'system:node').map(parseRule);
}

/**
 * Returns the initial roles and bindings of kube-apiserver 1.34 with Node and RBAC authorization, with aggregated rules
 * filled in. The namespaces kube-system and kube-public must exist.
 */
export function bootstrapPolicy(): KubeObject[] {
  const roles = Object.entries(roleTable).map(([key, lines]): Role => {
    const [namespace, name] = splitKey(key);
    return {
      apiVersion: rbacApiVersion,
      kind: 'Role',
      metadata: metadata(name, namespace),
      rules: lines.map(parseRule),
    };
  });
  const bindings = Object.entries(bindingTable).map(([key, { role, subjects }]) => {
    const [namespace, name] = splitKey(key);
    return binding('RoleBinding', metadata(name, namespace), { kind: 'Role', name: role }, subjects);
  });
  return [...clusterRoles(), ...clusterRoleBindings(), ...roles, ...bindings];
}
