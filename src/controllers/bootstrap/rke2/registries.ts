import { stringify } from 'yaml';
import type { BootstrapFile, RKE2Registries, RKE2RegistryConfig } from '../../../api/index.ts';
import type { JsonObject } from '../../../machinery/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { type SecretValues, tryReadReferenced } from '../common/secret-values.ts';
import { filePaths } from './paths.ts';

const tlsFiles = [
  ['tls.crt', 'cert_file'],
  ['tls.key', 'key_file'],
  ['ca.crt', 'ca_file'],
] as const;

/** Renders registries.yaml, the containerd registry and mirror configuration, and the certificates it refers to. */
export async function registryFiles(
  values: SecretValues,
  registries: RKE2Registries | undefined,
): Promise<BootstrapFile[]> {
  const { mirrors = {}, configs = {} } = registries ?? {};
  if (Object.keys(mirrors).length === 0 && Object.keys(configs).length === 0) return [];
  const files: BootstrapFile[] = [];
  const written: JsonObject = {};
  for (const [name, config] of Object.entries(configs)) {
    const field = `spec.privateRegistriesConfig.configs[${name}]`;
    const auth = await credentials(values, config, field);
    const { tls, files: certificates } = await certificatesOf(values, name, config, field);
    files.push(...certificates);
    written[name] = { ...(auth && { auth }), ...(tls && { tls }) };
  }
  const content = stringify({
    ...(Object.keys(mirrors).length > 0 && { mirrors }),
    ...(Object.keys(written).length > 0 && { configs: written }),
  });
  return [...files, { path: filePaths.registries, owner: 'root:root', permissions: '0600', content }];
}

async function credentials(
  values: SecretValues,
  { authSecret }: RKE2RegistryConfig,
  field: string,
): Promise<JsonObject | undefined> {
  if (!authSecret) return undefined;
  const at = `${field}.authSecret`;
  const read = (key: string): Promise<string | undefined> =>
    tryReadReferenced(values, { secretRef: { name: authSecret.name ?? '', key } }, at);
  const username = await read('username');
  const password = await read('password');
  if (username !== undefined && password !== undefined) return { username, password };
  const token = await read('identity-token');
  if (token !== undefined) return { identity_token: token };
  throw new BootstrapInputError(
    `${at}: Secret ${values.namespace}/${authSecret.name} has neither the keys username and password nor identity-token; add them`,
    { mayHeal: true },
  );
}

async function certificatesOf(
  values: SecretValues,
  registry: string,
  { tls }: RKE2RegistryConfig,
  field: string,
): Promise<{ tls?: JsonObject; files: BootstrapFile[] }> {
  if (!tls) return { files: [] };
  const files: BootstrapFile[] = [];
  const written: JsonObject = { ...(tls.insecureSkipVerify === true && { insecure_skip_verify: true }) };
  // one directory per registry, because the file names repeat
  const directory = `${filePaths.registryCertificates}/${registry.replaceAll(/[^A-Za-z0-9.-]/g, '_')}`;
  for (const [key, setting] of tls.tlsConfigSecret ? tlsFiles : []) {
    const reference = { secretRef: { name: tls.tlsConfigSecret?.name ?? '', key } };
    const content = await tryReadReferenced(values, reference, `${field}.tls.tlsConfigSecret`);
    if (content === undefined) continue;
    const path = `${directory}/${key}`;
    files.push({ path, owner: 'root:root', permissions: '0600', content });
    written[setting] = path;
  }
  return { tls: written, files };
}
