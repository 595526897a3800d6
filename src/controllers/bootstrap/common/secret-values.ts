import {
  type BootstrapFile,
  type BootstrapUser,
  type ConfigMap,
  ConfigMaps,
  type Secret,
  type SecretKeySource,
  type SecretOrConfigMapKey,
  Secrets,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { type FileTemplateData, renderFileTemplate } from './file-template.ts';
import { BootstrapInputError } from './machine-content.ts';

export interface SecretValues {
  client: Client;
  namespace: string;
  signal: AbortSignal;
}

/** Resolves file contents: reads Secret references and renders templates. */
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

/** Resolves the password hashes of users from Secrets. */
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

function read(values: SecretValues, { secret }: SecretKeySource, wantedBy: string): Promise<string> {
  return readReferenced(values, { secretRef: secret }, wantedBy);
}

/** Reads a key of a Secret or ConfigMap; `wantedBy` is the referring field, for error messages. */
export async function readReferenced(
  values: SecretValues,
  reference: SecretOrConfigMapKey,
  wantedBy: string,
): Promise<string> {
  const { text, who, key } = await lookUp(values, reference, wantedBy);
  if (text === undefined) throw new BootstrapInputError(`${who} has no key "${key}"; add it`, { mayHeal: true });
  return text;
}

/** Like `readReferenced`, but the key may be missing. The Secret or ConfigMap must exist. */
export async function tryReadReferenced(
  values: SecretValues,
  reference: SecretOrConfigMapKey,
  wantedBy: string,
): Promise<string | undefined> {
  return (await lookUp(values, reference, wantedBy)).text;
}

async function lookUp(
  values: SecretValues,
  { secretRef, configMapRef }: SecretOrConfigMapKey,
  wantedBy: string,
): Promise<{ text: string | undefined; who: string; key: string }> {
  const reference = secretRef ?? configMapRef;
  if (!reference) throw new BootstrapInputError(`${wantedBy}: names neither a Secret nor a ConfigMap`);
  const found = await textsOf(values, secretRef ? 'Secret' : 'ConfigMap', reference.name);
  const who = `${wantedBy}: ${secretRef ? 'Secret' : 'ConfigMap'} ${values.namespace}/${reference.name}`;
  if (!found) throw new BootstrapInputError(`${who} does not exist; create it`, { mayHeal: true });
  return { text: found(reference.key), who, key: reference.key };
}

async function textsOf(
  { client, namespace, signal }: SecretValues,
  kind: 'Secret' | 'ConfigMap',
  name: string,
): Promise<TextOfKey | undefined> {
  const key = { namespace, name };
  return kind === 'Secret'
    ? await client
        .get(Secrets, key, { signal })
        .then(({ data }) => decoded(data))
        .catch(ignoreNotFound)
    : await client.get(ConfigMaps, key, { signal }).then(texts).catch(ignoreNotFound);
}

/** Returns all entries of a ConfigMap, sorted by key. */
export async function readConfigMap(
  { client, namespace, signal }: SecretValues,
  name: string,
  wantedBy: string,
): Promise<[key: string, text: string][]> {
  const found = await client.get(ConfigMaps, { namespace, name }, { signal }).catch(ignoreNotFound);
  if (!found) {
    const problem = `${wantedBy}: ConfigMap ${namespace}/${name} does not exist; create it`;
    throw new BootstrapInputError(problem, { mayHeal: true });
  }
  const read = texts(found);
  const keys = [...Object.keys(found.data ?? {}), ...Object.keys(found.binaryData ?? {})].sort();
  return keys.map((key) => [key, read(key) ?? '']);
}

type TextOfKey = (key: string) => string | undefined;

function decoded(data: Secret['data']): TextOfKey {
  return (key) => {
    const value = data?.[key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
  };
}

function texts({ data, binaryData }: ConfigMap): TextOfKey {
  const encoded = decoded(binaryData);
  return (key) => data?.[key] ?? encoded(key);
}
