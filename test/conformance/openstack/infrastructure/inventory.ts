import type { OpenStackShell } from '../../../e2e/openstack-command/openstack-shell.ts';

/** Resource kinds checked for leaks, as named by the openstack command. */
const kinds = [
  'server',
  'server group',
  'volume',
  'port',
  'network',
  'subnet',
  'router',
  'security group',
  'security group rule',
  'floating ip',
  'network trunk',
  'loadbalancer',
  'loadbalancer listener',
  'loadbalancer pool',
  'loadbalancer healthmonitor',
  'keypair',
] as const;

/** All resources of a project by kind, as `id name`. */
export type Inventory = Readonly<Record<(typeof kinds)[number], readonly string[]>>;

/** Lists the resources of a project with the openstack command. */
export async function takeInventory(openstack: OpenStackShell): Promise<Inventory> {
  const found: Partial<Record<(typeof kinds)[number], string[]>> = {};
  for (const kind of kinds) {
    const rows = await openstack.json<Record<string, unknown>[]>(...kind.split(' '), 'list');
    found[kind] = rows
      .map((row) => [row['ID'] ?? row['id'] ?? row['Fingerprint'], row['Name'] ?? row['name']])
      .map((words) => words.filter((word) => typeof word === 'string').join(' '))
      .sort();
  }
  return found as Inventory;
}
