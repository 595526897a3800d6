import { formatYaml, type JsonObject } from '../../machinery/index.ts';
import type { CloudConfig, DomainReference, Reference } from '../../openstack/index.ts';

/** One cloud in the two configuration formats that components inside a cluster read. */
export interface CloudTexts {
  /** only this cloud: other clouds in the user's file must not reach the cluster */
  readonly cloudsYaml: string;
  /** format of OpenStack's cloud controller manager and CSI drivers */
  readonly cloudConf: string;
  /** PEM; both texts refer to it as file `cacert` in the same directory */
  readonly ca?: string;
}

/** Mount path of the credentials Secret in the charts and manifests of cloud-provider-openstack. */
const caFile = '/etc/config/cacert';
const usualInterface = 'public';

/** Renders a cloud in both formats. */
export function cloudTexts(config: CloudConfig): CloudTexts {
  const { ca } = config.tls;
  return { cloudsYaml: cloudsYamlOf(config), cloudConf: cloudConfOf(config), ...(ca !== undefined && { ca }) };
}

function cloudsYamlOf(config: CloudConfig): string {
  const { name, authUrl, region, tls } = config;
  const [wanted = usualInterface] = config.interfaces;
  const cloud: JsonObject = {
    auth_type: authTypes[config.credential.method],
    auth: defined({ auth_url: authUrl, ...credentialSettings(config), ...scopeSettings(config) }),
    ...(region !== undefined && { region_name: region }),
    ...(wanted !== usualInterface && { interface: wanted }),
    identity_api_version: 3,
    ...(!tls.verify && { verify: false }),
    ...(tls.ca !== undefined && { cacert: caFile }),
  };
  return formatYaml({ clouds: { [name]: cloud } });
}

const authTypes: Readonly<Record<CloudConfig['credential']['method'], string>> = {
  password: 'password',
  token: 'token',
  applicationCredential: 'v3applicationcredential',
};

type Settings = Readonly<Record<string, string | undefined>>;

/** Setting names of openstacksdk. */
function credentialSettings({ credential }: CloudConfig): Settings {
  if (credential.method === 'token') return { token: credential.token };
  if (credential.method === 'password') return { ...userSettings(credential.user), password: credential.password };
  return {
    ...('id' in credential
      ? { application_credential_id: credential.id }
      : { application_credential_name: credential.name, ...userSettings(credential.user) }),
    application_credential_secret: credential.secret,
  };
}

const userSettings = (user: Reference): Settings =>
  'id' in user ? { user_id: user.id } : { username: user.name, ...domainSettings('user_domain', user.domain) };

const domainSettings = (prefix: string, domain: DomainReference): Settings =>
  'id' in domain ? { [`${prefix}_id`]: domain.id } : { [`${prefix}_name`]: domain.name };

function scopeSettings({ scope }: CloudConfig): Settings {
  if (scope.kind === 'domain') return domainSettings('domain', scope.domain);
  if (scope.kind === 'trust') return { trust_id: scope.trustId };
  if (scope.kind === 'system') return { system_scope: 'all' };
  if (scope.kind === 'none') return {};
  const { project } = scope;
  return 'id' in project
    ? { project_id: project.id }
    : { project_name: project.name, ...domainSettings('project_domain', project.domain) };
}

/** Maps openstacksdk names to those of cloud-provider-openstack. */
const confNames: Readonly<Record<string, string>> = {
  username: 'username',
  user_id: 'user-id',
  user_domain_name: 'user-domain-name',
  user_domain_id: 'user-domain-id',
  password: 'password',
  token: 'token',
  application_credential_id: 'application-credential-id',
  application_credential_name: 'application-credential-name',
  application_credential_secret: 'application-credential-secret',
  project_name: 'tenant-name',
  project_id: 'tenant-id',
  project_domain_name: 'tenant-domain-name',
  project_domain_id: 'tenant-domain-id',
  domain_name: 'domain-name',
  domain_id: 'domain-id',
  trust_id: 'trust-id',
};

function cloudConfOf(config: CloudConfig): string {
  const auth = { ...credentialSettings(config), ...scopeSettings(config) };
  const [wanted = usualInterface] = config.interfaces;
  const settings: readonly (readonly [name: string | undefined, value: string | undefined])[] = [
    ['auth-url', config.authUrl],
    ...Object.entries(auth).map(([name, value]) => [confNames[name], value] as const),
    ['region', config.region],
    ['os-endpoint-type', wanted === usualInterface ? undefined : wanted],
    ['tls-insecure', config.tls.verify ? undefined : 'true'],
    ['ca-file', config.tls.ca === undefined ? undefined : caFile],
  ];
  const lines = settings.flatMap(([name, value]) =>
    name === undefined || value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  return `[Global]\n${lines.join('\n')}\n`;
}

/** Quotes values with characters that are special in the format. */
const quoted = (value: string): string =>
  /^[\w@%+:,./-]+$/.test(value)
    ? value
    : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const defined = (settings: Settings): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined));
