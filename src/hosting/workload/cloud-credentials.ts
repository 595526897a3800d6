import { isJsonObject, type JsonObject, type KubeObject, parseYaml } from '../../machinery/index.ts';
import type { WorkloadObject } from '../result.ts';
import type { CloudCredentials, PlaneWish } from '../wish.ts';

/** Where a Pod that mounts the Secret finds the authority of the cloud. */
const caFile = '/etc/config/cacert';

/**
 * Credentials for the controllers of the cloud inside the workload cluster, in both forms they come in: clouds.yaml for some,
 * cloud.conf for the others. Made when missing; what people put there themselves stays.
 */
export function cloudCredentialObjects({ cloudCredentials }: PlaneWish): WorkloadObject[] {
  if (!cloudCredentials) return [];
  const { secretName, namespace, cloudsYaml, caCertificate } = cloudCredentials;
  const data: Record<string, string> = {
    'clouds.yaml': base64(cloudsYaml),
    'cloud.conf': base64(cloudConf(cloudCredentials)),
    ...(caCertificate !== undefined && { cacert: base64(caCertificate) }),
  };
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace },
    type: 'Opaque',
    data,
  } as KubeObject;
  return [{ object, mode: 'once' }];
}

/** The settings of one cloud of a clouds.yaml as the cloud controller and the CSI driver read them. */
export function cloudConf({ cloudsYaml, cloudName, caCertificate }: CloudCredentials): string {
  const cloud = objectAt(objectAt(parseYaml(cloudsYaml).value, 'clouds'), cloudName);
  const auth = objectAt(cloud, 'auth');
  const settings: readonly (readonly [name: string, value: string | undefined])[] = [
    ['auth-url', text(auth['auth_url'])],
    ['username', text(auth['username'])],
    ['user-id', text(auth['user_id'])],
    ['password', text(auth['password'])],
    ['tenant-name', text(auth['project_name'])],
    ['tenant-id', text(auth['project_id'])],
    ['tenant-domain-name', text(auth['project_domain_name'])],
    ['tenant-domain-id', text(auth['project_domain_id'])],
    ['domain-name', text(auth['user_domain_name']) ?? text(auth['domain_name'])],
    ['domain-id', text(auth['user_domain_id']) ?? text(auth['domain_id'])],
    ['application-credential-id', text(auth['application_credential_id'])],
    ['application-credential-name', text(auth['application_credential_name'])],
    ['application-credential-secret', text(auth['application_credential_secret'])],
    ['region', text(cloud['region_name'])],
    ['tls-insecure', cloud['verify'] === false ? 'true' : undefined],
    ['ca-file', caCertificate === undefined ? undefined : caFile],
  ];
  const lines = settings.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`]));
  return `[Global]\n${lines.join('\n')}\n`;
}

/** Values with characters the format gives a meaning to. */
const quoted = (value: string): string =>
  /^[\w@%+:,./-]*$/.test(value) ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const base64 = (value: string): string => Buffer.from(value).toString('base64');

function objectAt(value: unknown, key: string): JsonObject {
  const found = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
}
