import { type BootstrapFile, type BootstrapUser, type SecretKeySource, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { type FileTemplateData, renderFileTemplate } from './file-template.ts';
import { BootstrapInputError } from './machine-content.ts';

/** Reads keys of Secrets in one namespace. */
export interface SecretValues {
  client: Client;
  namespace: string;
  signal: AbortSignal;
}

/** Files with their content in them: read from Secrets where they say so, and filled in where they are templates. */
export async function resolveFiles(
  values: SecretValues,
  files: readonly BootstrapFile[] | undefined,
  templateData: () => Promise<FileTemplateData>,
): Promise<BootstrapFile[]> {
  const resolved: BootstrapFile[] = [];
  for (const { contentFrom, contentFormat, ...file } of files ?? []) {
    const content = contentFrom ? await read(values, contentFrom, `spec.files ${file.path}`) : (file.content ?? '');
    resolved.push({
      ...file,
      content: contentFormat === 'Template' ? renderFileTemplate(file.path, content, await templateData()) : content,
    });
  }
  return resolved;
}

/** Users with the hashes of their passwords in them. */
export async function resolveUsers(
  values: SecretValues,
  users: readonly BootstrapUser[] | undefined,
): Promise<BootstrapUser[]> {
  const resolved: BootstrapUser[] = [];
  for (const { passwdFrom, ...user } of users ?? []) {
    resolved.push(
      passwdFrom ? { ...user, passwd: (await read(values, passwdFrom, `spec.users ${user.name}`)).trim() } : user,
    );
  }
  return resolved;
}

async function read(values: SecretValues, { secret }: SecretKeySource, wantedBy: string): Promise<string> {
  const { client, namespace, signal } = values;
  const found = await client.get(Secrets, { namespace, name: secret.name }, { signal }).catch(ignoreNotFound);
  if (!found) {
    throw new BootstrapInputError(`${wantedBy}: Secret ${namespace}/${secret.name} does not exist; create it`, {
      mayHeal: true,
    });
  }
  const data = found.data?.[secret.key];
  if (data === undefined) {
    throw new BootstrapInputError(
      `${wantedBy}: Secret ${namespace}/${secret.name} has no key "${secret.key}"; add it`,
      {
        mayHeal: true,
      },
    );
  }
  return Buffer.from(data, 'base64').toString('utf8');
}
