import { formatYaml, isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';

export interface CloudVariablesInput {
  readonly cloud: string;
  /** cloud entry of clouds.yaml */
  readonly entry: JsonObject;
  /** PEM from the file in `cacert` */
  readonly ca?: string | undefined;
  /** OS_PASSWORD, for entries without a password */
  readonly password?: string | undefined;
}

/** Path of the cloud's CA on machines of older templates. */
const caFile = '/etc/certs/cacert';

/** Returns the variables of OpenStack cluster templates for one cloud of clouds.yaml. */
export function cloudVariables(input: CloudVariablesInput): [name: string, value: string][] {
  const { cloud, ca } = input;
  const entry = withPassword(input);
  return [
    ['CAPO_CLOUD', cloud],
    ['OPENSTACK_CLOUD', cloud],
    // Templates put the value into a Secret, where an empty value is refused.
    ['OPENSTACK_CLOUD_CACERT_B64', base64(ca ?? '\n')],
    ['OPENSTACK_CLOUD_PROVIDER_CONF_B64', base64(providerConf(entry))],
    ['OPENSTACK_CLOUD_YAML_B64', base64(formatYaml({ clouds: { [cloud]: entry } }))],
  ];
}

/** Matches the names of these variables and of related ones that users set. */
export function isCloudVariable(name: string): boolean {
  return /^(?:OPENSTACK|CAPO)_[A-Za-z0-9_]+$/.test(name);
}

function withPassword({ entry, password }: CloudVariablesInput): JsonObject {
  const auth = authOf(entry);
  const needsOne = auth['password'] === undefined && auth['application_credential_secret'] === undefined;
  if (!needsOne || password === undefined || password === '') return entry;
  return { ...entry, auth: { ...auth, password } };
}

/** Builds the configuration file of in-tree cloud providers, which the cloud controller reads, too. */
function providerConf(entry: JsonObject): string {
  const auth = authOf(entry);
  const { cacert, region_name: region } = entry;
  const settings: [name: string, value: JsonValue | undefined][] = [
    ['username', auth['username']],
    ['password', auth['password']],
    ['tenant-id', auth['project_id']],
    ['tenant-name', auth['project_name'] ?? auth['tenant_name']],
    ['domain-name', auth['user_domain_name'] ?? auth['domain_name']],
    ['domain-id', auth['user_domain_id'] ?? auth['domain_id']],
    ['ca-file', cacert === undefined ? undefined : caFile],
    ['region', region],
    ['application-credential-name', auth['application_credential_name']],
    ['application-credential-id', auth['application_credential_id']],
    ['application-credential-secret', auth['application_credential_secret']],
  ];
  const lines = settings.flatMap(([name, value]) => (isSet(value) ? [`${name}=${quoted(String(value))}`] : []));
  return `[Global]\nauth-url=${String(auth['auth_url'] ?? '')}\n${lines.map((line) => `${line}\n`).join('')}`;
}

const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null && value !== '';

/** Quotes, backslashes and # are special in this format. */
function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

function authOf({ auth }: JsonObject): JsonObject {
  return isJsonObject(auth) ? auth : {};
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
