import { gunzipSync } from 'node:zlib';

/** A config that Ignition refuses. */
export class IgnitionError extends Error {}

export interface IgnitionFile {
  readonly path: string;
  readonly content: string | undefined;
  readonly mode: number;
  readonly isOverwriting: boolean;
  readonly appended: readonly string[];
}

export interface IgnitionUnit {
  readonly name: string;
  readonly contents: string | undefined;
  readonly isEnabled: boolean | undefined;
  readonly isMasked: boolean;
  readonly dropIns: readonly { readonly name: string; readonly contents: string }[];
}

export interface IgnitionConfig {
  readonly version: string;
  readonly files: readonly IgnitionFile[];
  readonly directories: readonly string[];
  readonly units: readonly IgnitionUnit[];
  readonly users: readonly { readonly name: string; readonly keys: readonly string[]; readonly home: string }[];
}

type Dictionary = Readonly<Record<string, unknown>>;

const versions = /^(?:2\.[0-5]\.0|3\.[0-6]\.0)$/;

/** Reports whether user data is an Ignition config. Such machines may have other user data too. */
export function isIgnitionText(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/** Parses a config of any version from 2.0 on. Throws IgnitionError with Ignition's message. */
export function parseIgnition(text: string): IgnitionConfig {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new IgnitionError(`config is not valid: ${error instanceof Error ? error.message : 'invalid JSON'}`);
  }
  return readConfig(parsed);
}

function readConfig(value: unknown): IgnitionConfig {
  const root = dictionary(value, '$');
  const ignition = dictionary(root['ignition'] ?? {}, '$.ignition');
  const version = ignition['version'];
  if (typeof version !== 'string' || version === '')
    throw new IgnitionError('config is not valid: missing config version');
  if (!versions.test(version)) throw new IgnitionError(`config is not valid: unsupported config version ${version}`);
  const referred = dictionary(ignition['config'] ?? {}, '$.ignition.config');
  const replacement = referred['replace'];
  if (replacement !== undefined && replacement !== null) {
    const source = dictionary(replacement, '$.ignition.config.replace')['source'];
    if (typeof source === 'string' && source !== '')
      return parseIgnition(fetched(replacement, '$.ignition.config.replace') ?? '');
  }
  const own = ownConfig(root, version);
  const others = [...array(referred['merge']), ...array(referred['append'])].map((each, index) =>
    parseIgnition(fetched(each, `$.ignition.config.merge.${index}`) ?? '{}'),
  );
  return others.reduce(
    (all, next) => ({
      version,
      files: [...all.files, ...next.files],
      directories: [...all.directories, ...next.directories],
      units: [...all.units, ...next.units],
      users: [...all.users, ...next.users],
    }),
    own,
  );
}

function ownConfig(root: Dictionary, version: string): IgnitionConfig {
  const storage = dictionary(root['storage'] ?? {}, '$.storage');
  const systemd = dictionary(root['systemd'] ?? {}, '$.systemd');
  const passwd = dictionary(root['passwd'] ?? {}, '$.passwd');
  const isOld = version.startsWith('2.');
  return {
    version,
    files: array(storage['files']).map((each, index) => readFile(each, `$.storage.files.${index}`, isOld)),
    directories: array(storage['directories']).map((each, index) =>
      absolute(dictionary(each, '')['path'], `$.storage.directories.${index}.path`),
    ),
    units: array(systemd['units']).map((each, index) => readUnit(each, `$.systemd.units.${index}`)),
    users: array(passwd['users']).map((each, index) => {
      const user = dictionary(each, `$.passwd.users.${index}`);
      const name = text(user['name'], `$.passwd.users.${index}.name`);
      return {
        name,
        keys: array(user['sshAuthorizedKeys']).map(String),
        home: typeof user['homeDir'] === 'string' ? user['homeDir'] : name === 'root' ? '/root' : `/home/${name}`,
      };
    }),
  };
}

function readFile(value: unknown, where: string, isOld: boolean): IgnitionFile {
  const file = dictionary(value, where);
  const path = absolute(file['path'], `${where}.path`);
  // Version 2 replaces existing files and appends if `append` is set. From version 3 on `append` is a list.
  const content = file['contents'] === undefined ? undefined : fetched(file['contents'], `${where}.contents`);
  const isAppending = isOld && file['append'] === true;
  return {
    path,
    content: isAppending ? undefined : content,
    mode: typeof file['mode'] === 'number' ? file['mode'] : 0o644,
    isOverwriting: isOld || file['overwrite'] === true,
    appended: isAppending
      ? [content ?? '']
      : array(file['append']).map((each, index) => fetched(each, `${where}.append.${index}`) ?? ''),
  };
}

function readUnit(value: unknown, where: string): IgnitionUnit {
  const unit = dictionary(value, where);
  const name = text(unit['name'], `${where}.name`);
  if (!/\.(?:service|socket|device|mount|automount|swap|target|path|timer|snapshot|slice|scope)$/.test(name)) {
    throw new IgnitionError(`config is not valid: error at ${where}.name: invalid systemd unit extension`);
  }
  const enabled = unit['enabled'] ?? unit['enable'];
  return {
    name,
    contents: typeof unit['contents'] === 'string' ? unit['contents'] : undefined,
    isEnabled: typeof enabled === 'boolean' ? enabled : undefined,
    isMasked: unit['mask'] === true,
    dropIns: array(unit['dropins']).map((each, index) => {
      const dropIn = dictionary(each, `${where}.dropins.${index}`);
      return {
        name: text(dropIn['name'], `${where}.dropins.${index}.name`),
        contents: String(dropIn['contents'] ?? ''),
      };
    }),
  };
}

/** Decodes the content of a source, compressed or not. Only data URLs work, all others are unreachable. */
function fetched(value: unknown, where: string): string | undefined {
  const resource = dictionary(value, where);
  const { source, compression } = resource;
  if (source === undefined || source === null || source === '') return '';
  if (typeof source !== 'string')
    throw new IgnitionError(`config is not valid: error at ${where}.source: not a string`);
  const data = /^data:([^,]*),(.*)$/s.exec(source);
  if (!data) throw new IgnitionError(`failed to fetch ${source}: a simulated machine has no way to it`);
  let bytes: Buffer;
  try {
    bytes = /;base64$/i.test(data[1] ?? '')
      ? Buffer.from(decodeURIComponent(data[2] ?? ''), 'base64')
      : Buffer.from(decodeURIComponent(data[2] ?? ''));
    if (compression === 'gzip') bytes = gunzipSync(bytes);
  } catch {
    throw new IgnitionError(`config is not valid: error at ${where}.source: unable to parse data url`);
  }
  return bytes.toString();
}

function dictionary(value: unknown, where: string): Dictionary {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Dictionary;
  throw new IgnitionError(`config is not valid: error at ${where}: expected an object`);
}

function array(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new IgnitionError('config is not valid: expected a list');
  return value as unknown[];
}

function text(value: unknown, where: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new IgnitionError(`config is not valid: error at ${where}: missing`);
}

function absolute(value: unknown, where: string): string {
  const path = text(value, where);
  if (path.startsWith('/')) return path;
  throw new IgnitionError(`config is not valid: error at ${where}: path not absolute`);
}
