import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMaps } from '../../api/index.ts';
import { createArtifacts } from '../../artifacts/index.ts';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { installedFolder } from '../installed-folder.ts';

/** Location of a custom template. */
export interface TemplatePlace {
  /** file, URL, or - for standard input */
  from?: string;
  fromConfigMap?: string;
  fromConfigMapNamespace?: string;
  fromConfigMapKey: string;
}

const maxTemplateBytes = 16 * 1024 * 1024;

export async function builtInTemplate(file: string): Promise<string> {
  const folder = installedFolder('templates');
  if (folder === undefined) {
    throw new CapstanError('CAP_TEMPLATE', 'the cluster templates are missing in the installation of Capstan', {
      hint: 'reinstall Capstan, or use a clone of its repository',
    });
  }
  return await readFile(join(folder, file), 'utf8');
}

/** Reads the user's template; undefined if none is given. */
export async function ownTemplate(
  place: TemplatePlace,
  connection: ConnectionOptions,
  context: CommandContext,
): Promise<string | undefined> {
  if (place.fromConfigMap !== undefined) return await fromConfigMap(place.fromConfigMap, place, connection, context);
  const { from } = place;
  if (from === undefined) return undefined;
  if (from === '-') return await context.readInput();
  if (/^https?:/i.test(from)) return await fromAddress(from, context);
  try {
    return await readFile(from, 'utf8');
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `--from: ${from} cannot be read: ${errorMessage(cause)}`, {
      hint: 'name a file, an https:// address, or - for standard input',
      cause,
    });
  }
}

async function fromAddress(address: string, context: CommandContext): Promise<string> {
  const artifacts = createArtifacts({ cache: { memory: true }, clock: context.clock });
  try {
    const { bytes } = await artifacts.download(rawAddress(address), {
      limit: maxTemplateBytes,
      signal: context.signal,
    });
    return Buffer.from(bytes).toString('utf8');
  } finally {
    await artifacts.close();
  }
}

/** Translates a GitHub page URL to the raw file, as clusterctl does. */
export function rawAddress(address: string): string {
  const page = /^https:\/\/github\.com\/([^/]+)\/([^/]+)\/(?:blob|tree)\/(.+)$/.exec(address);
  return page ? `https://raw.githubusercontent.com/${page[1]}/${page[2]}/${page[3]}` : address;
}

async function fromConfigMap(
  name: string,
  { fromConfigMapNamespace, fromConfigMapKey }: TemplatePlace,
  options: ConnectionOptions,
  context: CommandContext,
): Promise<string> {
  return await withConnection(options, context, async ({ client, namespace }) => {
    const key = { name, namespace: fromConfigMapNamespace ?? namespace };
    const { data } = await client.get(ConfigMaps, key, { signal: context.signal });
    const text = data?.[fromConfigMapKey];
    if (text !== undefined) return text;
    throw new CapstanError('CAP_TEMPLATE', `ConfigMap ${key.namespace}/${name} has no key "${fromConfigMapKey}"`, {
      hint: `it has ${Object.keys(data ?? {}).join(', ') || 'none'}; say which with --from-config-map-key`,
    });
  });
}
