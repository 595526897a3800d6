import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { LatticeSettings, Secret } from '../../api/index.ts';
import {
  CapstanError,
  errorMessage,
  formatYaml,
  isJsonObject,
  type JsonObject,
  parseYaml,
} from '../../machinery/index.ts';

/**
 * Builds the Secret that a LatticeCluster names from a clouds.yaml: only its cloud and the CA, because the others are
 * not needed there.
 */
export async function credentialsFrom(
  file: string,
  settings: Pick<LatticeSettings, 'secret' | 'cloudName'>,
  otherName?: string,
): Promise<Secret> {
  const { cloudName } = settings;
  const text = await read(file, '--clouds-yaml');
  const { value } = parseYaml(text);
  const clouds = isJsonObject(value) ? value['clouds'] : undefined;
  const cloud = isJsonObject(clouds) ? (clouds[cloudName] ?? clouds[otherName ?? cloudName]) : undefined;
  if (!isJsonObject(cloud)) {
    throw new CapstanError('CAP_CLOUDS_YAML', `${file} has no cloud "${cloudName}"`, {
      hint: 'spec.provider.config.openstack.cloudName of the LatticeCluster names another',
    });
  }
  const { cacert, ...chosen } = cloud;
  const authority =
    typeof cacert === 'string' ? await read(resolve(dirname(file), cacert), `cacert of ${file}`) : undefined;
  return cloudSecret(settings, chosen, authority);
}

export function cloudSecret(
  { secret, cloudName }: Pick<LatticeSettings, 'secret' | 'cloudName'>,
  cloud: JsonObject,
  authority: string | undefined,
): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...secret },
    type: 'Opaque',
    data: {
      'clouds.yaml': Buffer.from(formatYaml({ clouds: { [cloudName]: cloud } })).toString('base64'),
      ...(authority !== undefined && { cacert: Buffer.from(authority).toString('base64') }),
    },
  };
}

async function read(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `${what}: ${errorMessage(cause)}`, { cause });
  }
}
