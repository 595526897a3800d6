import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { CapstanError, errorMessage, systemClock, systemRandom } from '../machinery/index.ts';
import { privateFileMode, readIfPresent, writeFileAtomic } from '../pki/index.ts';
import type { Logger } from '../runtime/index.ts';
import {
  adminPrefix,
  type CloudListener,
  createCloud,
  defaultWorld,
  ensureCloudTls,
  type FaultRule,
  type ListenOptions,
  type Outside,
  parseFaultRule,
  renderCloudsYaml,
  type SimulatedCloud,
} from '../simulator/index.ts';
import { childControllers } from './child-controllers/program.ts';
import { ownCloudTransport } from './own-cloud-transport.ts';

export interface SimulatedCloudOptions {
  dataDirectory: string;
  listen: { host: string; port: number };
  https?: boolean;
  /** keep nothing after the program ends */
  inMemory?: boolean;
  timeScale?: number;
  without?: readonly string[];
  /** YAML or JSON file with fault rules */
  faultsFile?: string;
  /** network that servers reach outside the cloud */
  outside?: Outside;
  /** whether agents on its machines may dial an address outside the cloud; default: none */
  reachable?: (host: string, port: number) => boolean;
  log: Logger;
}

export interface RunningCloud {
  cloud: SimulatedCloud;
  url: string;
  cloudsYaml: string;
  adminTokenFile: string;
  /** messages for the user with locations and suggestions */
  lines: string[];
  stop(): Promise<void>;
}

/** Starts a simulated cloud over HTTP and writes DATA_DIR/clouds.yaml for it. */
export async function startSimulatedCloud(options: SimulatedCloudOptions): Promise<RunningCloud> {
  const { dataDirectory, log } = options;
  const directory = join(dataDirectory, 'cloud');
  const faults = options.faultsFile === undefined ? [] : await readFaults(resolve(options.faultsFile));
  let listening: CloudListener | undefined;
  const cloud = await createCloud({
    clock: systemClock,
    random: systemRandom,
    world: defaultWorld,
    faults,
    ...(options.inMemory ? {} : { directory }),
    ...(options.timeScale !== undefined && { timeScale: options.timeScale }),
    ...(options.without && { without: options.without }),
    machines: {
      sockets: true,
      cni: 'required',
      log,
      ...(options.outside && { outside: options.outside }),
      cloudTransport: ownCloudTransport(() => listening?.url),
      programs: childControllers({
        cloudUrl: () => listening?.url,
        backupDirectory: join(directory, 'child-backups'),
        reachable: options.reachable ?? (() => false),
      }),
    },
    onError: (error, what) => log.error('The simulated cloud failed unexpectedly', { what, error }),
  });
  try {
    const tls = options.https ? await ensureCloudTls(directory, tlsHosts(options.listen.host), systemClock) : undefined;
    const listener = await listenAgain(cloud, directory, {
      ...options.listen,
      ...(tls && { tls: { certificate: tls.certificate, privateKey: tls.privateKey } }),
    });
    listening = listener;
    const { url } = listener;
    const cloudsYaml = join(dataDirectory, 'clouds.yaml');
    const text = renderCloudsYaml({
      url,
      region: cloud.core.region,
      secrets: cloud.secrets,
      ...(tls && { authorityFile: tls.authorityFile }),
    });
    await writeFileAtomic(cloudsYaml, text, privateFileMode);
    const adminTokenFile = join(directory, 'admin-token');
    await writeFileAtomic(adminTokenFile, cloud.secrets.adminToken, privateFileMode);
    return {
      cloud,
      url,
      cloudsYaml,
      adminTokenFile,
      lines: [
        `simulated cloud ${url}/identity/v3`,
        `clouds.yaml     ${cloudsYaml} (clouds openstack, admin)`,
        `cloud admin API ${url}${adminPrefix} (token in ${adminTokenFile})`,
        `try             OS_CLIENT_CONFIG_FILE=${cloudsYaml} OS_CLOUD=openstack openstack flavor list`,
      ],
      stop: () => cloud.close(),
    };
  } catch (error) {
    await cloud.close();
    throw error;
  }
}

/** Port 0 selects a free port and reuses it on the next start if possible, because copies of clouds.yaml contain it. */
async function listenAgain(cloud: SimulatedCloud, directory: string, options: ListenOptions): Promise<CloudListener> {
  if (options.port !== 0) return cloud.listen(options);
  const file = join(directory, 'port');
  const earlier = Number((await readIfPresent(file)) ?? Number.NaN);
  if (Number.isInteger(earlier)) {
    try {
      return await cloud.listen({ ...options, port: earlier });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  const listener = await cloud.listen(options);
  await writeFileAtomic(file, String(listener.port), 0o644);
  return listener;
}

function tlsHosts(host: string): string[] {
  const usual = ['localhost', '127.0.0.1', '::1'];
  return usual.includes(host) || host === '0.0.0.0' || host === '::' ? usual : [...usual, host];
}

async function readFaults(file: string): Promise<FaultRule[]> {
  try {
    const parsed: unknown = parse(await readFile(file, 'utf8'));
    const list = Array.isArray(parsed) ? parsed : ((parsed as { faults?: unknown } | null)?.faults ?? []);
    if (!Array.isArray(list)) throw new Error('it must hold a list of rules');
    return list.map((rule, index) => parseFaultRule(rule, (rule as { id?: string } | null)?.id ?? `rule-${index + 1}`));
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `--faults: ${file}: ${errorMessage(cause)}`, {
      hint: 'docs/simulated-cloud.md describes the rules',
      cause,
    });
  }
}
