import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../machinery/index.ts';
import { tokenFileCredentials } from './credentials.ts';
import { errnoOf } from './errors.ts';
import type { Environment } from './read.ts';
import type { ConnectionConfig } from './types.ts';

const defaultServiceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the connection of a pod's service account; undefined outside a pod. */
export async function inClusterConfig(options: {
  env: Environment;
  clock: Clock;
  serviceAccountDir?: string;
}): Promise<ConnectionConfig | undefined> {
  const host = options.env['KUBERNETES_SERVICE_HOST'];
  const port = options.env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return undefined;
  const dir = options.serviceAccountDir ?? defaultServiceAccountDir;
  const tokenPath = join(dir, 'token');
  if ((await optional(tokenPath)) === undefined) return undefined;
  const ca = await optional(join(dir, 'ca.crt'));
  const namespace = (await optional(join(dir, 'namespace')))?.trim();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ...(ca !== undefined && { certificateAuthority: ca }),
    credentials: tokenFileCredentials(tokenPath, options.clock),
    namespace: namespace === undefined || namespace === '' ? 'default' : namespace,
    context: '',
  };
}

async function optional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
