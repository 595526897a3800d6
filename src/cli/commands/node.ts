import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { Taint } from '../../api/index.ts';
import type { UserInfo } from '../../apiserver/index.ts';
import { type ConnectionConfig, type HttpClient, httpClient } from '../../client/index.ts';
import { asJson, CapstanError, formatYaml, systemClock, systemRandom } from '../../machinery/index.ts';
import { guestClient, nodeUser, type PodHost, startPodHost } from '../../podhost/index.ts';
import { overNetwork, type PortService } from '../../simkube/index.ts';
import { lockDirectory } from '../../store/index.ts';
import { explained } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory } from '../management-api.ts';
import { machineIdIn, refuseTaken, requireNodeAuthorizer, requireRights, usualTaints } from '../node/guard.ts';
import { startKubelet } from '../node/kubelet.ts';
import { watchForScheduler } from '../node/missing-scheduler.ts';
import { installNodeRights, nodeObjects, providerUser, storageClassName } from '../node/rights.ts';
import { readServerVersion, requireSupportedKubernetes, versioned } from '../server-version.ts';
import { simulatedPods } from '../simulated-pods.ts';
import { targetApi } from '../target-api.ts';
import { version } from '../version.ts';

export interface NodeOptions {
  simulated?: boolean;
  kubeconfig?: string;
  context?: string;
  name?: string;
  dataDir?: string;
  install?: boolean;
  gateways?: boolean;
  dryRun?: boolean;
  podCidr: string;
  registerWithTaints?: string;
}

/** Runs a simulated node of a Kubernetes until a signal arrives. */
export async function node(options: NodeOptions, context: CommandContext): Promise<number> {
  const { env, stdout } = context;
  if (!options.simulated) throw noRealNodes();
  if (options.dryRun) {
    if (!options.install) throw new CapstanError('CAP_USAGE', '--dry-run is for --install');
    stdout(
      nodeObjects({ isDefault: true, gateways: options.gateways === true })
        .map((object) => `---\n${formatYaml(asJson(object))}`)
        .join(''),
    );
    return 0;
  }
  const network = parseNetwork(options.podCidr);
  const taints = options.registerWithTaints === undefined ? undefined : parseTaints(options.registerWithTaints);
  const name = parseName(options.name ?? `simulated-${hostname().toLowerCase().split('.')[0]}`);
  const config = await targetApi(options, env);
  const directory = resolve(options.dataDir ?? join(defaultDataDirectory(env), 'nodes', name));
  const lock = await lockDirectory(directory);
  try {
    const { install = false, gateways = false } = options;
    await runNode({ config, name, directory, network, taints, install, gateways, context });
  } catch (error) {
    if (!context.signal.aborted) throw explained(error, config);
  } finally {
    await lock.release();
  }
  return 0;
}

interface RunOptions {
  config: ConnectionConfig;
  name: string;
  directory: string;
  network: { address: string; bits: 16 | 24 };
  /** absent: defaults for the Kubernetes */
  taints: readonly Taint[] | undefined;
  install: boolean;
  gateways: boolean;
  context: CommandContext;
}

async function runNode(run: RunOptions): Promise<void> {
  const { config, name, directory, network, taints, install, gateways, context } = run;
  const { log, signal, clock, stdout } = context;
  const stops: (() => Promise<unknown>)[] = [];
  const as = (user?: UserInfo): HttpClient => {
    const impersonate = user && { user: user.name, groups: [...user.groups] };
    const client = httpClient(
      { ...config, ...(impersonate && { impersonate }) },
      { userAgent: `capstan-node/${version}`, onWarning: (text) => log.debug('The API server warns', { text }) },
    );
    stops.unshift(() => client.close());
    return client;
  };
  try {
    const administrator = as();
    await requireSupportedKubernetes(versioned(administrator, config), signal);
    if (install) await installNodeRights(administrator, { gateways }, { clock, signal });
    const provider = as(providerUser);
    await requireRights(administrator, providerUser, signal);
    const machineId = await machineIdIn(directory, systemRandom);
    await refuseTaken(administrator, { name, machineId }, clock, signal);
    const startTaints = taints ?? (await usualTaints(administrator, signal));
    const simulation = simulatedPods({ directory: join(directory, 'pods'), log, network });
    stops.unshift(() => simulation.close());
    const own = as(nodeUser(name));
    await requireNodeAuthorizer(own, name, signal);
    const host = await startPodHost(
      {
        client: guestClient({ node: own, provider, nodeName: name }),
        clock: systemClock,
        random: systemRandom,
        log,
        sockets: true,
        gateways,
        nodeName: name,
        version: await versionOf(administrator, signal),
        managementApi: apiBehind(config),
        logDirectory: simulation.logDirectory,
        backend: simulation.backend(),
        guest: { machineId, taints: startTaints, administrator },
      },
      signal,
    );
    stops.unshift(() => host.stop());
    const kubelet = await startKubelet({ provider, host, nodeName: name, clock, log, signal });
    stops.unshift(async () => kubelet?.close());
    stdout(`management API  ${config.server}\n`);
    for (const line of linesOf(name, host, startTaints)) stdout(`${line}\n`);
    stdout('ready\n');
    const watching = watchForScheduler({ client: provider, clock, log }, signal);
    await Promise.race([context.stopped, host.failed]);
    log.info('Stopping');
    await watching;
  } finally {
    for (const stop of stops) {
      await stop().catch((error: unknown) => log.error('A part of the program did not stop cleanly', { error }));
    }
  }
}

function linesOf(name: string, host: PodHost, taints: readonly Taint[]): string[] {
  const shown = taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`).join(', ');
  return [
    `node            ${name} at ${host.address}${shown === '' ? '' : `, registered with the taint ${shown}`}`,
    `storage class   ${storageClassName}`,
    `load balancers  addresses of ${host.cidr}`,
  ];
}

function noRealNodes(): CapstanError {
  return new CapstanError(
    'CAP_USAGE',
    '`capstan node` runs simulated nodes only: real machines cannot be joined with it',
    {
      hint: 'add --simulated to run a simulated one; machines of clusters join their own cluster by themselves',
    },
  );
}

/** Returns the kubelet version to show, which is that of the API server. */
async function versionOf(client: HttpClient, signal: AbortSignal): Promise<string> {
  const [release] = (await readServerVersion(client, signal)).split('+');
  return `${release || 'v0.0.0'}+capstan`;
}

/** Forwards to the API server for Pods that use the Service `kubernetes`. */
function apiBehind({ server }: ConnectionConfig): PortService {
  const { hostname: host, port } = new URL(server);
  const address = host.replace(/^\[|\]$/g, '');
  const number = Number(port || 443);
  const { api } = overNetwork({ clock: systemClock, random: systemRandom })(address, number);
  return {
    ...(api && { api }),
    accept(socket) {
      const behind = connect({ host: address, port: number });
      const end = (): void => {
        socket.destroy();
        behind.destroy();
      };
      behind.on('error', end).on('close', end);
      socket.on('error', end).on('close', end);
      socket.pipe(behind).pipe(socket);
    },
  };
}

function parseName(text: string): string {
  if (text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)) return text;
  throw new CapstanError('CAP_USAGE', `--name: "${text}" is not a valid node name`, {
    hint: 'lower case letters, digits and dashes, at most 63 of them',
  });
}

function parseNetwork(text: string): { address: string; bits: 16 | 24 } {
  const [, address = '', bits] = /^((?:\d{1,3}\.){3}\d{1,3})\/(16|24)$/.exec(text) ?? [];
  if (address.split('.').every((part) => part !== '' && Number(part) <= 255))
    return { address, bits: bits === '16' ? 16 : 24 };
  throw new CapstanError('CAP_USAGE', `--pod-cidr: "${text}" is not a Pod network`, {
    hint: 'an IPv4 network of 16 or 24 bits, such as 10.244.0.0/16',
  });
}

/** Parses comma-separated taints `KEY=VALUE:EFFECT`, as kubelets do. */
function parseTaints(text: string): Taint[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, key = '', value, effect = ''] =
        /^([\w./-]+)(?:=([\w.-]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(part) ?? [];
      if (key === '') {
        throw new CapstanError('CAP_USAGE', `--register-with-taints: "${part}" is not a taint`, {
          hint: 'KEY=VALUE:EFFECT with an effect of NoSchedule, PreferNoSchedule or NoExecute',
        });
      }
      return { key, ...(value && { value }), effect };
    });
}
