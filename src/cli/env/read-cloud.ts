import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { CapstanError, errorMessage, type JsonObject } from '../../machinery/index.ts';
import { type Clouds, loadClouds } from '../../openstack/index.ts';
import type { CommandContext } from '../context.ts';

/** Reads the clouds from a file or from the search path of the openstack command, and prints warnings. */
export async function readClouds(context: CommandContext, file?: string): Promise<Clouds> {
  const cwd = process.cwd();
  if (file !== undefined) await checkReadable(resolve(cwd, file));
  const env = file === undefined ? context.env : { ...context.env, OS_CLIENT_CONFIG_FILE: file };
  const clouds = await loadClouds({ env, cwd, home: homedir() });
  for (const warning of clouds.warnings) context.stderr(`capstan: warning: ${warning}\n`);
  return clouds;
}

/** Returns a cloud entry of clouds.yaml and its CA. */
export async function readEntry(clouds: Clouds, cloud: string): Promise<{ entry: JsonObject; ca: string | undefined }> {
  const entry = clouds.entry(cloud);
  const { cacert } = entry;
  const base = dirname(clouds.file ?? process.cwd());
  return { entry, ca: typeof cacert === 'string' ? await authority(resolve(base, cacert), cloud) : undefined };
}

/** A named file must exist; falling back to another one would be wrong. */
async function checkReadable(path: string): Promise<void> {
  await readFile(path).catch((error: unknown) => {
    throw new CapstanError('CAP_CLOUDS_YAML', `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  });
}

async function authority(path: string, cloud: string): Promise<string> {
  const hint = 'put the certificate there, or remove `cacert` from clouds.yaml';
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CapstanError('CAP_CLOUDS_YAML', `cacert of cloud "${cloud}" cannot be read: ${errorMessage(error)}`, {
      hint,
      cause: error,
    });
  });
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) return text;
  throw new CapstanError('CAP_CLOUDS_YAML', `cacert of cloud "${cloud}": ${path} contains no certificate`, { hint });
}
