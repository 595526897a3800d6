import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { withoutLogin } from '../errors/redact.ts';
import { AuthProblem, readCredential, readScope } from './auth.ts';
import { canonicalSettings } from './canonical.ts';
import type { CloudConfig } from './cloud-config.ts';
import { cloudFromEnvironment } from './environment.ts';
import { CloudConfigError } from './errors.ts';
import { type ConfigPlaces, candidateFiles, type FoundConfig, parseConfig, readFirst } from './files.ts';
import { mergeDeep, mergeWithAuth, settingText } from './merge.ts';
import { profileSettings, publicCloud } from './public-clouds.ts';
import { knownRegions } from './regions.ts';
import { readInterfaces, readServices } from './services.ts';
import { readTls } from './tls.ts';

export interface CloudChoice {
  /** one of the configured regions; default: the first */
  readonly region?: string | undefined;
}

/** All configured clouds of a machine. */
export interface Clouds {
  readonly names: readonly string[];
  /** OS_CLOUD, else the cloud of the OS_* variables, else the only configured cloud */
  readonly defaultName: string | undefined;
  /** the clouds.yaml that was read */
  readonly file: string | undefined;
  /** skipped files and duplicate keys */
  readonly warnings: readonly string[];
  /** settings of a cloud as written, including those of secure.yaml */
  entry(name: string): JsonObject;
  /** the named cloud, or the default one */
  cloud(name?: string, choice?: CloudChoice): Promise<CloudConfig>;
}

/** Reads clouds.yaml, secure.yaml, clouds-public.yaml and the OS_* variables, as openstacksdk does. */
export async function loadClouds(places: ConfigPlaces): Promise<Clouds> {
  const { env } = places;
  const main = await readFirst(candidateFiles('clouds', places));
  const secure = await readFirst(candidateFiles('secure', places));
  const merged = mergeDeep(main.file?.content ?? {}, secure.file?.content ?? {});
  const source = main.file?.path ?? secure.file?.path;
  const clouds = cloudsIn(merged, source ?? 'clouds.yaml');
  const skipped = [...main.skipped, ...secure.skipped];
  const unusable = [...absentFile(places, main), ...skipped];

  const environmentName = env['OS_CLOUD_NAME'] || 'envvars';
  const fromEnvironment = cloudFromEnvironment(env);
  if (fromEnvironment && Object.hasOwn(clouds, environmentName)) {
    throw new CloudConfigError({
      file: source,
      cloud: environmentName,
      problem: 'has the name of the cloud that the OS_* variables describe',
      cure: 'rename it, unset the OS_* variables, or set OS_CLOUD_NAME to another name for them',
    });
  }
  const names = [...Object.keys(clouds), ...(fromEnvironment ? [environmentName] : [])];
  const defaultName =
    env['OS_CLOUD'] || (fromEnvironment ? environmentName : names.length === 1 ? names[0] : undefined);

  return {
    names,
    defaultName,
    file: main.file?.path,
    warnings: [...skipped.map((text) => `skipped: ${text}`), ...main.warnings, ...secure.warnings],
    entry(name) {
      const own = Object.hasOwn(clouds, name) ? clouds[name] : undefined;
      if (own === undefined) throw unknownCloud(name, Object.keys(clouds), source, unusable);
      return mapping(own, source ?? 'clouds.yaml', name);
    },
    async cloud(given, choice = {}) {
      const name = given || defaultName;
      if (name === undefined) throw noDefault(names, source, unusable);
      const isEnvironment = fromEnvironment !== undefined && name === environmentName;
      const own = isEnvironment ? fromEnvironment : Object.hasOwn(clouds, name) ? clouds[name] : undefined;
      const file = isEnvironment ? 'the environment' : (source ?? 'clouds.yaml');
      if (own === undefined) throw unknownCloud(name, names, source, unusable);
      // OS_REGION_NAME applies together with OS_CLOUD, as in the openstack command.
      const region = choice.region ?? (given === undefined && !isEnvironment ? env['OS_REGION_NAME'] : undefined);
      const vendor = await readFirst(candidateFiles('clouds-public', places));
      return buildCloud({
        name,
        file,
        own: mapping(own, file, name),
        profiles: publicCloudsIn(vendor.file?.content),
        region: region || undefined,
        paths: { cwd: places.cwd, home: places.home },
      });
    },
  };
}

export interface CloudText {
  /** content of a clouds.yaml */
  readonly text: string;
  /** name for messages, such as `Secret default/cloud-config` */
  readonly source: string;
  readonly cloud: string;
  readonly region?: string | undefined;
  /** PEM of CA certificates, used instead of `cacert` */
  readonly ca?: string | undefined;
}

/** Reads one cloud from a clouds.yaml text, such as one in a Secret. Reads neither the environment nor any file. */
export async function cloudFromText(given: CloudText): Promise<CloudConfig> {
  let parsed: ReturnType<typeof parseConfig>;
  try {
    parsed = parseConfig(given.text, given.source);
  } catch (error) {
    throw new CloudConfigError({
      file: given.source,
      problem: `is not a valid clouds.yaml (${error instanceof Error ? error.message : String(error)})`,
      cure: 'repair it',
    });
  }
  const clouds = cloudsIn(parsed.content, given.source);
  const own = Object.hasOwn(clouds, given.cloud) ? clouds[given.cloud] : undefined;
  if (own === undefined) throw unknownCloud(given.cloud, Object.keys(clouds), given.source, []);
  const cloud = await buildCloud({
    name: given.cloud,
    file: given.source,
    own: mapping(own, given.source, given.cloud),
    profiles: {},
    region: given.region,
    ca: given.ca,
  });
  return { ...cloud, warnings: [...parsed.warnings, ...cloud.warnings] };
}

interface BuildOptions {
  name: string;
  file: string;
  own: JsonObject;
  profiles: JsonObject;
  region: string | undefined;
  paths?: { cwd: string; home: string };
  ca?: string | undefined;
}

async function buildCloud(options: BuildOptions): Promise<CloudConfig> {
  const { name, file, own } = options;
  const warnings: string[] = [];
  const profile = expandProfile(options, warnings);
  const region = chooseRegion(options, profile);
  let merged = mergeWithAuth({ auth: {}, ...profile }, own);
  merged = mergeWithAuth(merged, withoutNulls(region?.values ?? {}));
  for (const key of ['regions', 'profile', 'cloud', 'region-name']) delete merged[key];
  merged['region_name'] = region?.name ?? '';
  if (!isJsonObject(merged['auth'])) {
    throw new CloudConfigError({
      file,
      cloud: name,
      key: 'auth',
      problem: 'is not a mapping',
      cure: 'put auth_url, username and so on below it',
    });
  }
  const { auth, settings } = canonicalSettings(merged);
  try {
    const credential = readCredential(auth, settingText(settings['auth_type']));
    const scope = readScope(auth, credential);
    return {
      name,
      source: file,
      authUrl: readAuthUrl(auth['auth_url']),
      credential,
      scope,
      region: settingText(settings['region_name']) || undefined,
      interfaces: readInterfaces(settings['interface']) ?? ['public'],
      tls: await readTls(settings, {
        file,
        cloud: name,
        paths: options.paths,
        ca: options.ca,
        warn: (text) => warnings.push(text),
      }),
      timeoutMs: readTimeout(settingText(settings['api_timeout'])),
      services: readServices(settings),
      warnings,
    };
  } catch (error) {
    if (!(error instanceof AuthProblem)) throw error;
    throw new CloudConfigError({ file, cloud: name, key: error.key, problem: error.message, cure: error.cure });
  }
}

function expandProfile(options: BuildOptions, warnings: string[]): JsonObject {
  const { own, name, file } = options;
  const profile = settingText(own['profile']) ?? settingText(own['cloud']);
  if (profile === undefined || profile === '') return {};
  const local = options.profiles[profile];
  if (isJsonObject(local)) return local;
  const known = publicCloud(profile);
  if (known?.closed !== undefined) {
    throw new CloudConfigError({
      file,
      cloud: name,
      key: 'profile',
      problem: `${profile} is a cloud that no longer exists: ${known.closed}`,
      cure: 'use another cloud',
    });
  }
  if (known) return profileSettings(known);
  warnings.push(
    `${file}: cloud "${name}": there is no profile "${profile}"; describe it in clouds-public.yaml, or give auth_url and regions here`,
  );
  return {};
}

function chooseRegion(options: BuildOptions, profile: JsonObject): { name: string; values: JsonObject } | undefined {
  const { file, name, region } = options;
  const known = knownRegions(options.own, profile);
  if ('invalid' in known) {
    throw new CloudConfigError({
      file,
      cloud: name,
      key: 'regions',
      problem: `entry ${known.invalid + 1} is not a region`,
      cure: 'give a name, or a mapping of name and values',
    });
  }
  if (region === undefined) return known[0];
  if (known.length === 0) return { name: region, values: {} };
  const found = known.find((candidate) => candidate.name === region);
  if (found) return found;
  throw new CloudConfigError({
    file,
    cloud: name,
    key: 'region_name',
    problem: `"${region}" is not one of its regions (${known.map((one) => one.name).join(', ')})`,
    cure: 'use one of these (case matters), or add it to regions',
  });
}

function withoutNulls(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

function readAuthUrl(text: string | undefined): string {
  const cure = 'give the URL of Keystone, such as https://cloud.example.com:5000/v3';
  if (text === undefined) throw new AuthProblem('auth.auth_url', 'is missing', cure);
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new AuthProblem('auth.auth_url', `"${withoutLogin(text)}" is not an http or https URL`, cure);
  }
  return text;
}

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1000;
  throw new AuthProblem('api_timeout', `"${text}" is not a number of seconds`, 'give a number, or leave it out');
}

function cloudsIn(content: JsonObject, file: string): JsonObject {
  const clouds = content['clouds'];
  if (clouds === undefined || clouds === null) return {};
  if (isJsonObject(clouds)) return clouds;
  throw new CloudConfigError({
    file,
    key: 'clouds',
    problem: 'is not a mapping',
    cure: 'list each cloud by its name below it',
  });
}

function publicCloudsIn(content: JsonObject | undefined): JsonObject {
  const clouds = content?.['public-clouds'];
  return isJsonObject(clouds) ? clouds : {};
}

function mapping(value: unknown, file: string, cloud: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new CloudConfigError({
    file,
    cloud,
    problem: 'is not a mapping',
    cure: 'put auth and the other settings below its name',
  });
}

function unknownCloud(
  name: string,
  names: readonly string[],
  file: string | undefined,
  skipped: readonly string[],
): CloudConfigError {
  if (names.length === 0) return nothingConfigured(skipped, `cloud "${name}" was not found: `);
  return new CloudConfigError({
    file,
    problem: `cloud "${name}" was not found${skippedText(skipped)}`,
    cure: `use one of: ${names.join(', ')}`,
  });
}

/** openstacksdk silently ignores a missing file; an error should name it. */
function absentFile(places: ConfigPlaces, { file, skipped }: FoundConfig): string[] {
  if (!places.env['OS_CLIENT_CONFIG_FILE']) return [];
  const [named = ''] = candidateFiles('clouds', places);
  const isKnown = file?.path === named || skipped.some((text) => text.startsWith(named));
  return isKnown ? [] : [`${named} of OS_CLIENT_CONFIG_FILE does not exist`];
}

function noDefault(names: readonly string[], file: string | undefined, skipped: readonly string[]): CloudConfigError {
  if (names.length === 0) return nothingConfigured(skipped, '');
  return new CloudConfigError({
    file,
    problem: `it describes several clouds (${names.join(', ')})${skippedText(skipped)}`,
    cure: 'choose one with --cloud or OS_CLOUD',
  });
}

function nothingConfigured(skipped: readonly string[], prefix: string): CloudConfigError {
  return new CloudConfigError({
    problem: `${prefix}no cloud is configured${skippedText(skipped)}`,
    cure: 'write a clouds.yaml (here, or in ~/.config/openstack), set OS_CLIENT_CONFIG_FILE to one, or set the OS_* variables',
  });
}

function skippedText(skipped: readonly string[]): string {
  return skipped.length === 0 ? '' : ` (${skipped.join('; ')})`;
}
