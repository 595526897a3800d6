import { parse } from 'yaml';
import {
  errorMessage,
  formatYaml,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  must,
} from '../../../machinery/index.ts';
import { type CloudConfig, cloudFromText, type OpenStack } from '../../../openstack/index.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { type CloudConf, cloudEntryOf, confFlag, confText, parseCloudConf } from './cloud-conf.ts';

/** The cloud as configured by files mounted into a Pod. */
export interface ConfiguredCloud {
  readonly conf: CloudConf;
  readonly cloud: OpenStack;
  readonly region: string | undefined;
}

const usualCloudsFile = '/etc/openstack/clouds.yaml';
const cloudName = 'openstack';

/**
 * Reads the configuration, and clouds.yaml if it refers to one, and authenticates with the cloud. Throws errors
 * suitable for the program's log.
 */
export async function openConfiguredCloud(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  confFile: string,
): Promise<ConfiguredCloud> {
  const text = process.files.read(confFile);
  if (text === undefined) throw new Error(`open ${confFile}: no such file or directory`);
  const conf = parseCloudConf(text);
  const config = confFlag(conf, 'global', 'use-clouds')
    ? await fromCloudsFile(process, conf)
    : await fromGlobal(process, conf, confFile);
  const cloud = kubernetes.openCloud(config, process);
  // Detects wrong credentials at the start.
  await cloud.identity.whoami({ signal: process.signal });
  return { conf, cloud, region: config.region };
}

async function fromCloudsFile(process: SimulatedProcess, conf: CloudConf): Promise<CloudConfig> {
  const file = confText(conf, 'global', 'clouds-file') ?? process.env['OS_CLIENT_CONFIG_FILE'] ?? usualCloudsFile;
  const text = process.files.read(file);
  if (text === undefined) throw new Error(`no clouds.yaml file found: open ${file}: no such file or directory`);
  const clouds = cloudsIn(text, file);
  const names = Object.keys(clouds);
  const name =
    confText(conf, 'global', 'cloud') ??
    process.env['OS_CLOUD'] ??
    (names.length === 1 ? must(names[0], 'the first of names') : cloudName);
  const own = clouds[name];
  const named = isJsonObject(own) && typeof own['cacert'] === 'string' ? own['cacert'] : undefined;
  const ca = authority(process, confText(conf, 'global', 'ca-file') ?? named);
  const region = confText(conf, 'global', 'region');
  return await cloudFromText({ text, source: file, cloud: name, ...(region && { region }), ...(ca && { ca }) });
}

async function fromGlobal(process: SimulatedProcess, conf: CloudConf, source: string): Promise<CloudConfig> {
  const ca = authority(process, confText(conf, 'global', 'ca-file'));
  const text = formatYaml({ clouds: { [cloudName]: cloudEntryOf(conf) } });
  return await cloudFromText({ text, source, cloud: cloudName, ...(ca && { ca }) });
}

/** PEM of the CA certificates of the cloud. */
function authority({ files }: SimulatedProcess, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const content = files.read(path);
  if (content === undefined) throw new Error(`open ${path}: no such file or directory`);
  return content;
}

function cloudsIn(text: string, file: string): JsonObject {
  let parsed: JsonValue;
  try {
    parsed = parse(text, { uniqueKeys: false }) as JsonValue;
  } catch (error) {
    throw new Error(`yaml: ${file}: ${errorMessage(error)}`);
  }
  const clouds = isJsonObject(parsed) ? parsed['clouds'] : undefined;
  if (!isJsonObject(clouds)) throw new Error(`${file} has no clouds`);
  return clouds;
}
