import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LatticeSettings, Secret } from '../../api/index.ts';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import { cloudSecret, credentialsFrom } from './credentials.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Named = Pick<LatticeSettings, 'secret' | 'cloudName'>;

/** Builds the Secret from a file in a variable, otherwise from the OS_* variables; undefined if there is neither. */
export async function credentialsOfEnvironment(env: Environment, settings: Named): Promise<Secret | undefined> {
  const file = env['OPENSTACK_CLOUD_CONFIG'] || env['OS_CLIENT_CONFIG_FILE'];
  if (file) return await credentialsFrom(resolve(file), settings, env['OS_CLOUD']);
  const authUrl = env['OS_AUTH_URL'];
  if (!authUrl) return undefined;
  const authority = env['OPENSTACK_CACERT'] || env['OS_CACERT'];
  const region = env['OS_REGION_NAME'];
  const cloud = {
    auth: { auth_url: authUrl, ...identity(env) },
    ...(isApplication(env) && { auth_type: 'v3applicationcredential' }),
    ...(region && { region_name: region }),
    identity_api_version: 3,
    interface: 'public',
  };
  return cloudSecret(settings, cloud, authority ? await read(resolve(authority)) : undefined);
}

const isApplication = (env: Environment): boolean => Boolean(env['OS_APPLICATION_CREDENTIAL_ID']);

function identity(env: Environment): Record<string, string> {
  if (isApplication(env)) {
    return named(env, {
      application_credential_id: ['OS_APPLICATION_CREDENTIAL_ID'],
      application_credential_secret: ['OS_APPLICATION_CREDENTIAL_SECRET'],
    });
  }
  const isById = Boolean(env['OS_PROJECT_ID'] || env['OS_TENANT_ID']);
  return {
    ...named(env, { username: ['OS_USERNAME'], password: ['OS_PASSWORD'] }),
    ...(isById
      ? named(env, { project_id: ['OS_PROJECT_ID', 'OS_TENANT_ID'] })
      : {
          ...named(env, { project_name: ['OS_PROJECT_NAME', 'OS_TENANT_NAME'] }),
          project_domain_name: env['OS_PROJECT_DOMAIN_NAME'] || 'Default',
        }),
    user_domain_name: env['OS_USER_DOMAIN_NAME'] || 'Default',
  };
}

function named(env: Environment, fields: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, variables]) => {
      const value = variables.map((variable) => env[variable]).find((text) => text);
      if (value) return [field, value];
      throw new CapstanError('CAP_USAGE', `OS_AUTH_URL is set, but ${variables.join(' or ')} is not`, {
        hint: 'set it too, or name a clouds.yaml with --clouds-yaml',
      });
    }),
  );
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `OPENSTACK_CACERT: ${errorMessage(cause)}`, { cause });
  }
}
