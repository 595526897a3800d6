import type { JsonObject } from '../../../machinery/index.ts';

/** A configuration file of cloud-provider-openstack: sections of keys, in gcfg format. */
export type CloudConf = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** An invalid configuration file, in the words of the program that reads it. */
export class CloudConfProblem extends Error {}

/** Section names are case-insensitive: `[LoadBalancerClass "x"]` is `loadbalancerclass "x"`. */
export function parseCloudConf(text: string): CloudConf {
  const sections = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = written.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('[')) {
      const name = line.endsWith(']') ? line.slice(1, -1).trim().toLowerCase() : '';
      if (name === '') throw new CloudConfProblem(`${index + 1}:1: expected section header`);
      current = sections.get(name) ?? new Map();
      sections.set(name, current);
      continue;
    }
    const equals = line.indexOf('=');
    const key = (equals < 0 ? line : line.slice(0, equals)).trim().toLowerCase();
    if (!current) throw new CloudConfProblem(`${index + 1}:1: expected section header`);
    if (!/^[a-z][a-z0-9-]*$/.test(key)) throw new CloudConfProblem(`${index + 1}:1: expected variable name`);
    current.set(key, equals < 0 ? 'true' : value(line.slice(equals + 1).trim(), index + 1));
  }
  return sections;
}

export function confText(conf: CloudConf, section: string, key: string): string | undefined {
  const found = conf.get(section.toLowerCase())?.get(key);
  return found === '' ? undefined : found;
}

export function confFlag(conf: CloudConf, section: string, key: string, otherwise = false): boolean {
  const found = confText(conf, section, key)?.toLowerCase();
  return found === undefined ? otherwise : found === 'true' || found === 'yes' || found === 'on' || found === '1';
}

export function confNumber(conf: CloudConf, section: string, key: string, otherwise: number): number {
  // Durations are written 5 or 5s; octavia uses seconds.
  const found = Number.parseInt(confText(conf, section, key) ?? '', 10);
  return Number.isFinite(found) ? found : otherwise;
}

/** Removes quotes and comments from a value. */
function value(written: string, line: number): string {
  if (!written.startsWith('"')) return written.replace(/[#;].*$/, '').trimEnd();
  let text = '';
  for (let at = 1; at < written.length; at++) {
    const letter = written.charAt(at);
    if (letter === '"') return text;
    if (letter !== '\\') {
      text += letter;
      continue;
    }
    at++;
    const escaped = written[at] ?? '';
    text += escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped;
  }
  throw new CloudConfProblem(`${line}:1: string not terminated`);
}

/** Settings of [Global] and their names in clouds.yaml. */
const authSettings: Readonly<Record<string, string>> = {
  'auth-url': 'auth_url',
  username: 'username',
  'user-id': 'user_id',
  'user-domain-name': 'user_domain_name',
  'user-domain-id': 'user_domain_id',
  password: 'password',
  token: 'token',
  'application-credential-id': 'application_credential_id',
  'application-credential-name': 'application_credential_name',
  'application-credential-secret': 'application_credential_secret',
  'tenant-name': 'project_name',
  'tenant-id': 'project_id',
  'tenant-domain-name': 'project_domain_name',
  'tenant-domain-id': 'project_domain_id',
  'trust-id': 'trust_id',
};

/** Converts the credentials of [Global] to a clouds.yaml entry. */
export function cloudEntryOf(conf: CloudConf): JsonObject {
  const auth: JsonObject = {};
  for (const [key, setting] of Object.entries(authSettings)) {
    const found = confText(conf, 'global', key);
    if (found !== undefined) auth[setting] = found;
  }
  // One domain setting may apply to user and project.
  for (const [short, parts] of Object.entries({ 'domain-name': '_domain_name', 'domain-id': '_domain_id' })) {
    const found = confText(conf, 'global', short);
    if (found === undefined) continue;
    auth[`user${parts}`] ??= found;
    auth[`project${parts}`] ??= found;
  }
  const region = confText(conf, 'global', 'region');
  const wanted = confText(conf, 'global', 'os-endpoint-type');
  return {
    auth_type:
      auth['application_credential_id'] !== undefined || auth['application_credential_name'] !== undefined
        ? 'v3applicationcredential'
        : auth['token'] === undefined
          ? 'password'
          : 'token',
    auth,
    ...(region !== undefined && { region_name: region }),
    ...(wanted !== undefined && { interface: wanted.replace(/URL$/, '') }),
    ...(confFlag(conf, 'global', 'tls-insecure') && { verify: false }),
  };
}
