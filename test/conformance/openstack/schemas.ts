import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { daemonEnvironment } from './daemons.ts';
import { baseUrl, type Layout, region } from './layout.ts';
import { databaseUrl, settingsFile } from './settings/shared.ts';

export type SchemaName = 'identity' | 'placement' | 'image' | 'network' | 'compute' | 'volume' | 'loadBalancer';

type Step = readonly [program: string, ...args: string[]];

/** Migrates a service's databases, once per state directory. */
export async function ensureSchema(layout: Layout, name: SchemaName): Promise<void> {
  const mark = join(layout.data, `schema-${name}.done`);
  const isDone = await access(mark).then(
    () => true,
    () => false,
  );
  if (isDone) return;
  if (name === 'identity') {
    for (const keys of ['keystone-tokens', 'keystone-credentials']) {
      await mkdir(join(layout.data, keys), { recursive: true, mode: 0o700 });
    }
  }
  for (const [program, ...args] of steps(layout, name)) {
    const outcome = await runProcess(program, args, {
      env: { ...daemonEnvironment(layout), OS_PLACEMENT_CONFIG_DIR: layout.settings },
    });
    if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  }
  await writeFile(mark, '');
}

function steps(layout: Layout, name: SchemaName): Step[] {
  const settings = (file: string): [string, string] => ['--config-file', settingsFile(layout, file)];
  switch (name) {
    case 'identity': {
      const manage = (...args: string[]): Step => ['keystone-manage', ...settings('keystone.conf'), ...args];
      const owner = ['--keystone-user', 'root', '--keystone-group', 'root'];
      const url = `${baseUrl(layout, 'identity')}/v3`;
      return [
        manage('db_sync'),
        manage('fernet_setup', ...owner),
        manage('credential_setup', ...owner),
        manage(
          ...['bootstrap', '--bootstrap-password', layout.password, '--bootstrap-region-id', region],
          ...['--bootstrap-admin-url', url, '--bootstrap-internal-url', url, '--bootstrap-public-url', url],
        ),
      ];
    }
    case 'placement':
      return [['placement-manage', ...settings('placement.conf'), 'db', 'sync']];
    case 'image':
      return [['glance-manage', ...settings('glance-api.conf'), 'db_sync']];
    case 'network':
      return [['neutron-db-manage', ...settings('neutron.conf'), 'upgrade', 'heads']];
    case 'compute': {
      const manage = (...args: string[]): Step => ['nova-manage', ...settings('nova.conf'), ...args];
      return [
        manage('api_db', 'sync'),
        manage('cell_v2', 'map_cell0', '--database_connection', databaseUrl(layout, 'nova_cell0')),
        manage('db', 'sync'),
        manage('cell_v2', 'create_cell', '--name', 'cell1'),
      ];
    }
    case 'volume':
      return [['cinder-manage', ...settings('cinder.conf'), 'db', 'sync']];
    case 'loadBalancer':
      return [['octavia-db-manage', ...settings('octavia.conf'), 'upgrade', 'head']];
  }
}
