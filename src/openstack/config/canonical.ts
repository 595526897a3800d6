import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { normaliseKeys, settingText } from './merge.ts';

/** Canonical settings of a cloud: all authentication settings in `auth`, all others beside it. */
export interface CanonicalSettings {
  readonly auth: Readonly<Record<string, string>>;
  readonly settings: JsonObject;
}

/** Spellings by their canonical name; the last one wins. A value outside of `auth` takes precedence over one inside. */
const aliases: readonly [target: string, spellings: readonly string[]][] = [
  ['domain_id', ['domain_id', 'domain-id']],
  ['domain_name', ['domain_name', 'domain-name']],
  ['user_domain_id', ['user_domain_id', 'user-domain-id']],
  ['user_domain_name', ['user_domain_name', 'user-domain-name']],
  ['project_domain_id', ['project_domain_id', 'project-domain-id']],
  ['project_domain_name', ['project_domain_name', 'project-domain-name']],
  ['token', ['auth-token', 'auth_token', 'token']],
  ['project_id', ['tenant_id', 'tenant-id', 'project_id', 'project-id']],
  ['project_name', ['tenant_name', 'tenant-name', 'project_name', 'project-name']],
];

/**
 * Authentication options that may be outside of `auth`, as the OS_* variables set them. Those inside take precedence.
 */
const authOptions: readonly [target: string, spellings: readonly string[]][] = [
  ['auth_url', ['auth_url']],
  ['system_scope', ['system_scope']],
  ['trust_id', ['trust_id']],
  ['default_domain_id', ['default_domain_id']],
  ['default_domain_name', ['default_domain_name', 'default_domain']],
  ['user_id', ['user_id']],
  ['username', ['username', 'user_name']],
  ['password', ['password']],
  ['application_credential_id', ['application_credential_id']],
  ['application_credential_name', ['application_credential_name']],
  ['application_credential_secret', ['application_credential_secret']],
];

/** Converts historic spellings to the canonical form by the rules of openstacksdk. */
export function canonicalSettings(cloud: JsonObject): CanonicalSettings {
  const { auth: given, ...rest } = renameOldSettings(cloud);
  const auth: JsonObject = isJsonObject(given) ? { ...given } : {};
  for (const [target, spellings] of aliases) {
    let value: string | undefined;
    for (const spelling of spellings) {
      value = settingText(auth[spelling]) ?? value;
      delete auth[spelling];
      value = settingText(rest[spelling]) ?? value;
      delete rest[spelling];
    }
    if (value) auth[target] = value;
  }
  shareDomain(auth);
  const settings = normaliseKeys(rest);
  const canonical: Record<string, string> = {};
  for (const [key, value] of Object.entries(normaliseKeys(auth))) {
    const text = settingText(value);
    if (text !== undefined && text !== '') canonical[key] = text;
  }
  for (const [target, spellings] of authOptions) {
    const inside = spellings.map((spelling) => canonical[spelling]).find(Boolean);
    const value = inside ?? spellings.map((spelling) => settingText(settings[spelling])).find(Boolean);
    for (const spelling of spellings) delete canonical[spelling];
    if (value !== undefined) canonical[target] = value;
  }
  if (canonical['auth_url'] !== undefined) canonical['auth_url'] = fillIn(canonical['auth_url'], settings);
  for (const [key, value] of Object.entries(settings)) {
    if (typeof value === 'string') settings[key] = fillIn(value, settings);
  }
  return { auth: canonical, settings };
}

function renameOldSettings(cloud: JsonObject): JsonObject {
  const renamed: JsonObject = {};
  let timeout: JsonValue | undefined;
  for (const [key, value] of Object.entries(cloud)) {
    // Old per-service clients had timeouts of their own. Now there is only one.
    if (key.endsWith('timeout') && key !== 'timeout' && key !== 'api_timeout') timeout = value;
    else if (key === 'auth_plugin') renamed['auth_type'] ??= value;
    else if (key.endsWith('endpoint_type')) renamed[key.replace('endpoint_type', 'interface')] = value;
    else renamed[key] = value;
  }
  if (timeout !== undefined && timeout !== null) renamed['api_timeout'] = timeout;
  return renamed;
}

/** For a project-scoped cloud, `domain_*` is the domain of user and project. Otherwise it is the scope itself. */
function shareDomain(auth: JsonObject): void {
  if (auth['project_id'] === undefined && auth['project_name'] === undefined) return;
  for (const kind of ['id', 'name']) {
    const domain = auth[`domain_${kind}`];
    delete auth[`domain_${kind}`];
    if (domain === undefined) continue;
    auth[`user_domain_${kind}`] ??= domain;
    auth[`project_domain_${kind}`] ??= domain;
  }
}

/** Replaces placeholders such as `{region_name}` by other settings. */
function fillIn(text: string, settings: JsonObject): string {
  if (!text.includes('{')) return text;
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => settingText(settings[name]) ?? all);
}
