import type { ClusterRole } from '../../api/index.ts';
import { installedDefinitions } from './installed-kinds.ts';
import { installedLabels } from './labels.ts';

const writing = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const reading = ['get', 'list', 'watch'];

/**
 * Adds our kinds to the roles `view`, `edit` and `admin` of every Kubernetes. Cluster-scoped kinds are excluded:
 * platform administrators manage them and grant their use to namespaces.
 */
export const userRoles: readonly ClusterRole[] = [
  roleFor('view', ['view'], reading),
  roleFor('edit', ['edit', 'admin'], writing),
];

function roleFor(name: string, joins: readonly string[], verbs: readonly string[]): ClusterRole {
  const byGroup = new Map<string, string[]>();
  for (const definition of installedDefinitions) {
    const { group, plural, namespaced } = definition;
    if (!namespaced) continue;
    const scale = definition.versions.some((version) => version.scale !== undefined) ? [`${plural}/scale`] : [];
    byGroup.set(group, [...(byGroup.get(group) ?? []), plural, ...scale]);
  }
  const labels = Object.fromEntries(joins.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']));
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `capstan-${name}`, labels: { ...installedLabels, ...labels } },
    rules: [...byGroup].map(([group, resources]) => ({ apiGroups: [group], resources, verbs: [...verbs] })),
  };
}
