import { posix } from 'node:path';
import { stringify } from 'yaml';
import type { BootstrapFile, RKE2AgentConfig, RKE2ServerConfig } from '../../../api/index.ts';
import type { JsonObject } from '../../../machinery/index.ts';
import { defaultRke2Directory } from '../../shared/index.ts';
import { cisScriptText } from './commands.ts';
import { dataPaths, filePaths } from './paths.ts';
import type { ResolvedReferences } from './settings.ts';

const file = (path: string, content: string, permissions = '0640'): BootstrapFile => ({
  path,
  owner: 'root:root',
  permissions,
  content,
});

export const configFile = (settings: JsonObject): BootstrapFile =>
  file(filePaths.config, stringify(settings, { lineWidth: 0 }), '0600');

const inData = (agent: RKE2AgentConfig, path: string): string =>
  posix.join(agent.dataDir || defaultRke2Directory, path);

/** Files that the rke2 settings refer to. */
export function referencedFiles(references: ResolvedReferences, agent: RKE2AgentConfig): BootstrapFile[] {
  const { auditPolicy, cloudConfig, resolvConf, credentialProviders, s3Authority, datastore } = references;
  const texts: (readonly [path: string, content: string | undefined])[] = [
    [filePaths.auditPolicy, auditPolicy],
    [filePaths.cloudConfig, cloudConfig],
    [filePaths.resolvConf, resolvConf],
    [filePaths.credentialProviders, credentialProviders?.config],
    [filePaths.s3Authority, s3Authority],
    [filePaths.datastoreAuthority, datastore?.authority],
    [filePaths.datastoreCertificate, datastore?.certificate],
    [filePaths.datastoreKey, datastore?.key],
  ];
  return [
    ...texts.flatMap(([path, content]) => (content === undefined ? [] : [file(path, content)])),
    ...(agent.cisProfile ? [file(filePaths.cisScript, cisScriptText, '0700')] : []),
  ];
}

/** Encryption configuration of the first server; other servers receive it from that one. */
export function encryptionFile(
  { secretsEncryption }: RKE2ServerConfig,
  key: string | undefined,
  agent: RKE2AgentConfig,
): BootstrapFile[] {
  if (key === undefined) return [];
  const provider = secretsEncryption?.provider ?? 'aescbc';
  const secret = Buffer.from(key).toString('base64');
  const content = JSON.stringify({
    kind: 'EncryptionConfiguration',
    apiVersion: 'apiserver.config.k8s.io/v1',
    resources: [
      { resources: ['secrets'], providers: [{ [provider]: { keys: [{ name: 'enckey', secret }] } }, { identity: {} }] },
    ],
  });
  return [file(inData(agent, dataPaths.encryption), content, '0400')];
}

/** Manifest files that rke2 applies itself. */
export function manifestFiles(
  entries: readonly (readonly [name: string, content: string])[],
  agent: RKE2AgentConfig,
): BootstrapFile[] {
  return entries.map(([name, content]) => file(inData(agent, posix.join(dataPaths.manifests, name)), content));
}
