import type { System } from '../../test/simulation/system.ts';

/** A fleet exceeds the default quotas of a project. */
export async function liftQuotas({ cloud, tenant }: System): Promise<void> {
  const project = await tenant.projectId();
  const unlimited = (...names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, -1]));
  cloud.operator.setQuota('compute', project, unlimited('instances', 'cores', 'ram'));
  cloud.operator.setQuota(
    'network',
    project,
    unlimited('network', 'subnet', 'router', 'port', 'floatingip', 'security_group', 'security_group_rule'),
  );
}
