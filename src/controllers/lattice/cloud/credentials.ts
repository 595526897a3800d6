import { createHash } from 'node:crypto';
import { type LatticeSettings, type Secret, Secrets } from '../../../api/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { type CloudConfig, cloudFromText } from '../../../openstack/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { type CloudTexts, cloudCaKey, cloudsYamlKey, cloudTexts, credentialText } from '../../shared/index.ts';

/** The cloud of a LatticeCluster and its credentials. */
export interface CloudCredentials {
  readonly config: CloudConfig;
  readonly texts: CloudTexts;
  /** content copied next to the objects of the cluster; other keys of the Secret are left out */
  readonly data: Readonly<Record<string, string>>;
  /** digest of the content */
  readonly digest: string;
}

/** Reads the Secret of a LatticeCluster. Throws CredentialsError or CloudConfigError with the remedy. */
export async function readCredentials(
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
  { secret: key, cloudName }: LatticeSettings,
): Promise<CloudCredentials> {
  const secret: Secret | undefined = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
  const { cloudsYaml, ca, source } = credentialText(key, secret);
  const config = await cloudFromText({ text: cloudsYaml, source, cloud: cloudName, ...(ca !== undefined && { ca }) });
  const data = Object.fromEntries(
    [cloudsYamlKey, cloudCaKey].flatMap((name) => {
      const value = secret?.data?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const digest = createHash('sha256')
    .update(JSON.stringify([data, cloudName]))
    .digest('hex');
  return { config, texts: cloudTexts(config), data, digest };
}
