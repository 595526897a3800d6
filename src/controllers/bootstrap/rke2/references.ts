import type { RKE2ConfigSpec, RKE2ObjectReference, RKE2ServerConfig } from '../../../api/index.ts';
import { readReferenced, type SecretValues, tryReadReferenced } from '../common/secret-values.ts';
import type { ResolvedReferences } from './settings.ts';

// References may name a namespace; admission allows only that of the configuration.

const nameOf = ({ name }: RKE2ObjectReference): string => name ?? '';

function secretKey(values: SecretValues, reference: RKE2ObjectReference, key: string, field: string): Promise<string> {
  return readReferenced(values, { secretRef: { name: nameOf(reference), key } }, field);
}

function mapKey(values: SecretValues, reference: RKE2ObjectReference, key: string, field: string): Promise<string> {
  return readReferenced(values, { configMapRef: { name: nameOf(reference), key } }, field);
}

/** Resolves the Secret and ConfigMap references that every machine needs. */
export async function agentReferences(
  values: SecretValues,
  spec: RKE2ConfigSpec,
  server: RKE2ServerConfig,
): Promise<ResolvedReferences> {
  const { resolvConf, imageCredentialProviderConfigMap: providers } = spec.agentConfig ?? {};
  const field = 'spec.agentConfig.imageCredentialProviderConfigMap';
  return {
    ...(resolvConf && {
      resolvConf: await mapKey(values, resolvConf, 'resolv.conf', 'spec.agentConfig.resolvConf'),
    }),
    ...(providers && {
      credentialProviders: {
        config: await mapKey(values, providers, 'credential-config.yaml', field),
        directory: await mapKey(values, providers, 'credential-provider-binaries', field),
      },
    }),
    ...(server.cloudProviderConfigMap && {
      cloudConfig: await mapKey(
        values,
        server.cloudProviderConfigMap,
        'cloud-config',
        'spec.serverConfig.cloudProviderConfigMap',
      ),
    }),
  };
}

/** Resolves the references that only servers need. */
export async function serverReferences(values: SecretValues, server: RKE2ServerConfig): Promise<ResolvedReferences> {
  const { auditPolicySecret, externalDatastoreSecret, secretsEncryption } = server;
  const { endpointCAsecret, s3CredentialSecret } = server.etcd?.backupConfig?.s3 ?? {};
  const s3 = 'spec.serverConfig.etcd.backupConfig.s3';
  const encryption = secretsEncryption?.encryptionKeySecret;
  return {
    ...(auditPolicySecret && {
      auditPolicy: await secretKey(
        values,
        auditPolicySecret,
        'audit-policy.yaml',
        'spec.serverConfig.auditPolicySecret',
      ),
    }),
    ...(s3CredentialSecret && {
      s3: {
        accessKey: await secretKey(values, s3CredentialSecret, 'aws_access_key_id', `${s3}.s3CredentialSecret`),
        secretKey: await secretKey(values, s3CredentialSecret, 'aws_secret_access_key', `${s3}.s3CredentialSecret`),
      },
    }),
    ...(endpointCAsecret && {
      s3Authority: await secretKey(values, endpointCAsecret, 'ca.pem', `${s3}.endpointCAsecret`),
    }),
    ...(encryption && {
      encryptionKey: await secretKey(
        values,
        encryption,
        'encryptionKey',
        'spec.serverConfig.secretsEncryption.encryptionKeySecret',
      ),
    }),
    ...(externalDatastoreSecret && { datastore: await datastore(values, nameOf(externalDatastoreSecret)) }),
  };
}

async function datastore(values: SecretValues, name: string): Promise<NonNullable<ResolvedReferences['datastore']>> {
  const field = 'spec.serverConfig.externalDatastoreSecret';
  const optional = (key: string): Promise<string | undefined> =>
    tryReadReferenced(values, { secretRef: { name, key } }, field);
  const endpoint = await readReferenced(values, { secretRef: { name, key: 'endpoint' } }, field);
  const authority = await optional('ca.pem');
  const certificate = await optional('cert.pem');
  // a certificate requires its key
  const key =
    certificate === undefined
      ? undefined
      : await readReferenced(values, { secretRef: { name, key: 'key.pem' } }, field);
  return {
    endpoint,
    ...(authority !== undefined && { authority }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
  };
}
