import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cloudsYamlVariable } from './stage.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** Creates clusters on a real cloud and checks them with the openstack command. Returns the exit code. */
export async function runInfrastructure(cloudsYaml: string, pattern: string | undefined): Promise<number> {
  process.stdout.write(
    'Servers of this cloud become ACTIVE and never boot: no node joins, and control planes are never initialized.\n',
  );
  const suite = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--project', 'e2e', 'test/conformance/openstack/infrastructure', '--reporter=verbose'],
      ...(pattern === undefined ? [] : ['-t', pattern]),
    ],
    { cwd: root, env: { ...process.env, [cloudsYamlVariable]: cloudsYaml }, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return new Promise((resolve, reject) => {
    suite.once('error', reject);
    suite.once('close', (code) => resolve(code ?? 1));
  });
}
