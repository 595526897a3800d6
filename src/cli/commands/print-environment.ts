import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import { loadClouds } from '../../openstack/index.ts';
import type { CommandContext } from '../context.ts';
import { cloudVariables, isCloudVariable } from '../env/cloud-variables.ts';
import { type Shell, shells } from '../env/shells.ts';

export interface EnvOptions {
  unset?: boolean;
  shell: Shell;
}

/** Prints the variables of a cloud for a shell to read, or what takes them away. */
export async function printEnvironment(
  options: EnvOptions,
  context: CommandContext,
  [first, second]: readonly [first: string | undefined, second: string | undefined],
): Promise<number> {
  const language = shells[options.shell];
  const print = (lines: readonly string[]): void => context.stdout(lines.map((line) => `${line}\n`).join(''));
  if (options.unset) {
    print(Object.keys(context.env).filter(isCloudVariable).sort().map(language.unset));
    return 0;
  }
  const [file, cloud] = second === undefined ? [undefined, first ?? context.env['OS_CLOUD']] : [first, second];
  if (cloud === undefined || cloud === '') {
    throw new CapstanError('CAP_USAGE', 'which cloud is not said', {
      hint: 'name one of clouds.yaml: capstan env [CLOUDS_YAML] CLOUD',
    });
  }
  const cwd = process.cwd();
  if (file !== undefined) await checkReadable(resolve(cwd, file));
  const env = file === undefined ? context.env : { ...context.env, OS_CLIENT_CONFIG_FILE: file };
  const clouds = await loadClouds({ env, cwd, home: homedir() });
  for (const warning of clouds.warnings) context.stderr(`capstan: warning: ${warning}\n`);
  const entry = clouds.entry(cloud);
  const { cacert } = entry;
  const ca =
    typeof cacert === 'string' ? await authority(resolve(dirname(clouds.file ?? cwd), cacert), cloud) : undefined;
  const variables = cloudVariables({ cloud, entry, ca, password: context.env['OS_PASSWORD'] });
  print(variables.map(([name, value]) => language.set(name, value)));
  if (context.interactive) context.stderr('\n# a shell takes them with: eval "$(capstan env …)"\n');
  return 0;
}

/** A file that was named must be there: another one that happens to be found is not what was meant. */
async function checkReadable(path: string): Promise<void> {
  await readFile(path).catch((error: unknown) => {
    throw new CapstanError('CAP_CLOUDS_YAML', `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  });
}

async function authority(path: string, cloud: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CapstanError('CAP_CLOUDS_YAML', `cacert of cloud "${cloud}" cannot be read: ${errorMessage(error)}`, {
      hint: 'put the certificate there, or take `cacert` out of clouds.yaml',
      cause: error,
    });
  });
}
