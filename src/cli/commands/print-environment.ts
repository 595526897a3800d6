import { CapstanError, isJsonObject, type JsonObject } from '../../machinery/index.ts';
import type { CommandContext } from '../context.ts';
import { cloudVariables, isCloudVariable } from '../env/cloud-variables.ts';
import { readClouds, readEntry } from '../env/read-cloud.ts';
import { type Shell, shells } from '../env/shells.ts';

export interface EnvOptions {
  unset?: boolean;
  shell: Shell;
}

/** Prints the environment variables of a cloud for a shell, or the commands to unset them. */
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
    throw new CapstanError('CAP_USAGE', 'name a cloud', {
      hint: 'name one of clouds.yaml: capstan env [CLOUDS_YAML] CLOUD',
    });
  }
  const clouds = await readClouds(context, file);
  if (second === undefined && !clouds.names.includes(cloud)) await refuseFile(cloud, context);
  const { entry, ca } = await readEntry(clouds, cloud);
  const password = context.env['OS_PASSWORD'];
  checkEntry(entry, cloud, { password, context });
  const variables = cloudVariables({ cloud, entry, ca, password });
  print(variables.map(([name, value]) => language.set(name, value)));
  if (context.interactive) context.stderr('\n# a shell takes them with: eval "$(capstan env …)"\n');
  return 0;
}

/** A single argument is a cloud; people who name only the file learn the clouds in it. */
async function refuseFile(name: string, context: CommandContext): Promise<void> {
  if (!/[/\\]|\.(?:ya?ml|json)$/.test(name)) return;
  const { names } = await readClouds(context, name);
  throw new CapstanError('CAP_USAGE', `name a cloud after the file ${name}`, {
    hint: names.length === 0 ? 'it describes no clouds' : `it describes ${names.join(', ')}`,
  });
}

/** Rejects clouds that nobody can sign in to; their manifests would fail much later. */
function checkEntry(
  { auth }: JsonObject,
  cloud: string,
  { password, context }: { password: string | undefined; context: CommandContext },
): void {
  const said = isJsonObject(auth) ? auth : {};
  if (!said['auth_url']) {
    throw new CapstanError('CAP_CLOUDS_YAML', `cloud "${cloud}" has no auth.auth_url`, {
      hint: 'write the address of Keystone there, such as https://cloud.example:5000/v3',
    });
  }
  if (said['password'] || said['application_credential_secret'] || said['token'] || password) return;
  context.stderr(`capstan: warning: cloud "${cloud}" has no password: set OS_PASSWORD, or write it to secure.yaml\n`);
}
