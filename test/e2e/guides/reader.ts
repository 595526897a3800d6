import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { type Outcome, runProcess } from '../../support/process.ts';
import { capstanShellCommand } from '../../support/program.ts';
import { type House, openHouse } from '../vm-cluster/house.ts';

/** A reader of the guides: a shell in its own directory, with `capstan` on the PATH, a cloud and a management API. */
export interface Reader {
  run(commands: string): Promise<Outcome>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Values that readers choose for their cloud. */
const choices = {
  IMAGE: 'ubuntu-capi-image-v1.33.6',
  CONTROL_PLANE_FLAVOR: 'm1.medium',
  WORKER_FLAVOR: 'm1.small',
  EXTERNAL_NETWORK: 'public',
  SSH_KEY: 'demo',
  NEW_VERSION: 'v1.34.2',
  NEW_IMAGE: 'ubuntu-capi-image-v1.34.2',
  OS_CLOUD: 'mycloud',
};

/** Puts the program under test on the PATH. */
export async function installCapstan(bin: string): Promise<void> {
  await writeFile(join(bin, 'capstan'), `#!/bin/sh\nexec ${capstanShellCommand()} "$@"\n`);
  await chmod(join(bin, 'capstan'), 0o755);
}

export async function openReader(): Promise<Reader> {
  const house: House = await openHouse(['--pods', 'simulated']);
  const { directory, kubeconfig } = house.capstan;
  const desk = join(directory, 'desk');
  const bin = join(directory, 'bin');
  await mkdir(desk);
  await mkdir(bin);
  await symlink(join(root, 'examples'), join(desk, 'examples'));
  const { clouds } = parse(await readFile(join(directory, 'data', 'clouds.yaml'), 'utf8')) as {
    clouds: Record<string, object>;
  };
  const cloudsYaml = join(desk, 'clouds.yaml');
  await writeFile(cloudsYaml, stringify({ clouds: { mycloud: clouds['openstack'] } }), { mode: 0o600 });
  await installCapstan(bin);
  const env = {
    ...choices,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: directory,
    KUBECONFIG: kubeconfig,
    OS_CLIENT_CONFIG_FILE: cloudsYaml,
    NO_COLOR: '1',
  };
  return {
    run: (commands) => runProcess('bash', ['-euo', 'pipefail', '-c', commands], { cwd: desk, env }),
    stop: () => house.stop(),
  };
}
