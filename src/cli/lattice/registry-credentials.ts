import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Secret } from '../../api/index.ts';
import { CapstanError, errorMessage, isJsonObject, parseJson } from '../../machinery/index.ts';
import { registryKey } from '../child-controllers/registry-secret.ts';

/** Builds Secrets with the credentials of the controllers' registry for nodes. */
export async function registrySecrets(file: string | undefined): Promise<readonly Secret[]> {
  if (file === undefined) return [];
  const text = await read(resolve(file));
  const config = object(text);
  if (!isJsonObject(config?.['auths'])) {
    throw new CapstanError('CAP_USAGE', `--registry-credentials-file: ${file} is not a docker config.json`, {
      hint: 'it has the field "auths"; `docker login` and `podman login --authfile` write one',
    });
  }
  const data = { '.dockerconfigjson': Buffer.from(text).toString('base64') };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { ...registryKey }, type: 'kubernetes.io/dockerconfigjson', data },
  ];
}

function object(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `--registry-credentials-file: ${errorMessage(cause)}`, { cause });
  }
}
