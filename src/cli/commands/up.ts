import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { openablePaths } from '../../apiserver/index.ts';
import { writeKubeconfigEntry } from '../../client/index.ts';
import { CapstanError, sleep, systemClock } from '../../machinery/index.ts';
import type { PodHost } from '../../podhost/index.ts';
import { createMetrics, type Logger } from '../../runtime/index.ts';
import type { CommandContext } from '../context.ts';
import { parseControllerAreas } from '../controller-areas.ts';
import { startHousekeeping } from '../housekeeping.ts';
import { giveMemoryBackAtRest } from '../idle-memory.ts';
import { cellPlace } from '../lattice/endpoints.ts';
import { loadPrices } from '../load-prices.ts';
import {
  defaultDataDirectory,
  defaultEncryptionKeyFile,
  type ManagementApi,
  parseListenAddress,
  startManagementApi,
} from '../management-api.ts';
import { type OidcFlags, oidcOptions } from '../oidc-flags.ts';
import { peersOf } from '../peers.ts';
import type { RunningManager } from '../running-manager.ts';
import { parseTlsSans } from '../serving-hosts.ts';
import type { RunningCloud } from '../simulated-cloud.ts';
import { stackSourcesOf } from '../stack-sources.ts';
import { createControllerHealth } from '../stand-ins/controller-health.ts';
import { ownContext } from '../target-api.ts';
import { parseWorkers } from '../workers/supervisor.ts';

export interface UpOptions extends OidcFlags {
  tlsSan?: string[];
  anonymousPaths?: string;
  dataDir?: string;
  listen: string;
  kubeconfig?: string;
  encryptionKeyFile?: string;
  auditLog?: string;
  serviceCidr?: string;
  simulatedCloud?: boolean;
  cloudListen: string;
  bootstrapListen: string;
  agentListen: string;
  latticeHost?: string;
  pods: 'simulated' | 'none';
  controllers: string;
  workers?: string;
  watchFilter?: string;
  namespace?: string;
  backupDirectory?: string;
  /** file with the prices of the cloud */
  prices?: string;
  stacksSource?: string[];
  denyPeers?: string;
  allowPeers?: string;
}

/** Runs the management API and its controllers in the foreground until a signal arrives. */
export async function up(options: UpOptions, context: CommandContext): Promise<number> {
  const { log, stdout } = context;
  const running = await unlessStopped(startInstallation(options, context), context);
  if (!running) return 0;
  try {
    const { api, kubeconfig, dataDirectory, cloud } = running;
    stdout(`management API  ${api.url}\n`);
    stdout(`kubeconfig      ${kubeconfig} (context ${ownContext})\n`);
    stdout(`data            ${dataDirectory}\n`);
    stdout(`try             kubectl --kubeconfig ${kubeconfig} --context ${ownContext} get namespaces\n`);
    for (const line of cloud?.lines ?? []) stdout(`${line}\n`);
    stdout('ready\n');
    await Promise.race([context.stopped, running.failed]);
    log.info('Stopping');
  } finally {
    await running.stop();
  }
  return 0;
}

/** Time for an interrupted start to stop. */
const startPatienceMs = 3000;

/**
 * Waits for a start that may be interrupted: ends with it, or without it if it hangs. Returns undefined if it was
 * stopped.
 */
export async function unlessStopped(
  starting: Promise<RunningInstallation>,
  { stopped, signal, clock, log }: CommandContext,
): Promise<RunningInstallation | undefined> {
  const settled = starting.then(
    async (running) => {
      if (!signal.aborted) return running;
      await running.stop();
      return undefined;
    },
    (error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    },
  );
  const late = stopped
    .then(() => sleep(clock, startPatienceMs))
    .then(() => {
      log.warn('The start does not break off; ending without it');
      return undefined;
    });
  return await Promise.race([settled, late]);
}

export interface RunningInstallation {
  readonly api: ManagementApi;
  readonly cloud: RunningCloud | undefined;
  readonly dataDirectory: string;
  /** path of the administrator's kubeconfig */
  readonly kubeconfig: string;
  /** rejects when a part fails permanently */
  readonly failed: Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts all parts; resolves when they are ready. */
export async function startInstallation(options: UpOptions, context: CommandContext): Promise<RunningInstallation> {
  const { env, log, signal } = context;
  const areas = parseControllerAreas(options.controllers);
  const dataDirectory = resolve(options.dataDir ?? defaultDataDirectory(env));
  const cloudListen = parseListenAddress(options.cloudListen, '--cloud-listen');
  const listen = parseListenAddress(options.listen);
  const workers = parseWorkers(options.workers);
  const { denyPeers, allowPeers } = options;
  const peerOptions = {
    ...(denyPeers !== undefined && { denyPeers }),
    ...(allowPeers !== undefined && { allowPeers }),
    listenHost: listen.host,
    simulatesCloud: options.simulatedCloud === true,
    simulatesPods: options.pods === 'simulated',
  };
  const peers = peersOf(peerOptions);
  const backupDirectory = resolve(options.backupDirectory ?? join(dataDirectory, 'backups'));
  /** ports of this process that agents on its simulated machines may dial */
  const reachable = new Set<number>();
  const cell = cellPlace(options, {
    onListening: ({ bootstrap, agents }) => void reachable.add(bootstrap).add(agents),
  });
  const oidc = await oidcOptions(options);
  /** rewrites the administrator's kubeconfig */
  let written: (() => Promise<unknown>) | undefined;
  const api = await startManagementApi({
    dataDirectory,
    listen,
    encryptionKeyFile: options.encryptionKeyFile ?? defaultEncryptionKeyFile(env, dataDirectory),
    ...(options.auditLog !== undefined && { auditLog: resolve(options.auditLog) }),
    ...(options.serviceCidr !== undefined && { serviceCidr: options.serviceCidr }),
    tlsSans: parseTlsSans(options.tlsSan ?? []),
    anonymousPaths: parseAnonymousPaths(options.anonymousPaths),
    ...(oidc && { oidc }),
    onRenewed: async () => {
      await written?.();
    },
    runsPods: options.pods !== 'none',
    log,
  });
  // Newest first, because later parts depend on earlier ones.
  const stops: (() => Promise<void>)[] = [() => api.stop()];
  try {
    let cloud: RunningCloud | undefined;
    let pods: PodHost | undefined;
    if (options.simulatedCloud) {
      const { startSimulatedCloud } = await import('../simulated-cloud.ts');
      cloud = await startSimulatedCloud({
        dataDirectory,
        listen: cloudListen,
        outside: (host, port) => pods?.outside(host, port),
        reachable: (host, port) => host === '127.0.0.1' && reachable.has(port),
        log,
      });
      stops.unshift(cloud.stop);
    }
    const metrics = createMetrics(api.server.metrics.registry);
    const housekeeping = await startHousekeeping(api, { metrics, log, signal });
    stops.unshift(housekeeping.stop);
    const health = createControllerHealth(areas);
    if (options.pods !== 'none') {
      const { startPods } = await import('../podhost.ts');
      pods = await startPods(api, { dataDirectory, health, metrics, log, signal });
      stops.unshift(pods.stop);
    }
    if (cloud) await publishCredentials(api, cloud, signal);
    let controllers: RunningManager | undefined;
    // A manager limited to one namespace cannot see the placeholder Pods.
    const standIns = pods && options.namespace === undefined && { standIns: health };
    if (areas.size > 0 && workers > 0) {
      if (options.prices !== undefined) {
        throw new CapstanError('CAP_USAGE', '--prices: controllers in separate processes do not report costs', {
          hint: 'leave --workers out, or use capstan cost --prices',
        });
      }
      const { startControllersElsewhere } = await import('../controllers.ts');
      const { watchFilter, namespace, stacksSource } = options;
      controllers = await startControllersElsewhere(api, {
        areas,
        ...standIns,
        metrics,
        log,
        signal,
        workers: {
          count: workers,
          settings: {
            controllers: options.controllers,
            ...(watchFilter !== undefined && { watchFilter }),
            ...(namespace !== undefined && { namespace }),
            ...(stacksSource && { stacksSource }),
            backupDirectory,
            dataDirectory,
            peers: peerOptions,
          },
        },
      });
      stops.unshift(controllers.stop);
    } else if (areas.size > 0) {
      const { startControllers } = await import('../controllers.ts');
      const stacks = stackSourcesOf(options.stacksSource, { env, clock: context.clock, cache: dataDirectory });
      stops.unshift(stacks.close);
      controllers = await startControllers(api, {
        areas,
        ...(cell && { cell }),
        peers,
        backupDirectory,
        stackSources: stacks.sources,
        ...(options.prices !== undefined && { prices: await loadPrices(options.prices) }),
        metrics,
        log,
        signal,
        ...standIns,
        ...(pods && {
          podConnector: pods.podConnector,
          simulatedPods: true,
          connectWorkload: (await import('../workload-connection.ts')).connectBeside(pods, peers),
        }),
        ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
        ...(options.namespace !== undefined && { namespace: options.namespace }),
      });
      stops.unshift(controllers.stop);
    } else {
      log.info('No cluster controllers run here: others are expected to');
    }
    written = () => writeAdminKubeconfig(api, options, context);
    const kubeconfig = await writeAdminKubeconfig(api, options, context);
    const stopGivingBack = giveMemoryBackAtRest();
    stops.unshift(async () => stopGivingBack());
    const parts = [housekeeping, pods, controllers].filter((part) => part !== undefined);
    return {
      api,
      cloud,
      dataDirectory,
      kubeconfig,
      failed: Promise.race(parts.map(({ failed }) => failed)),
      stop: () => stopAll(stops, log),
    };
  } catch (error) {
    await stopAll(stops, log);
    throw error;
  }
}

function parseAnonymousPaths(text: string | undefined): string[] {
  const paths = (text ?? '').split(',').filter((path) => path !== '');
  for (const path of paths) {
    if ((openablePaths as readonly string[]).includes(path)) continue;
    throw new CapstanError('CAP_USAGE', `--anonymous-paths: "${path}" is not one of ${openablePaths.join(', ')}`);
  }
  return paths;
}

/** Stops all parts, even if one of them fails. */
async function stopAll(stops: readonly (() => Promise<void>)[], log: Logger): Promise<void> {
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      log.error('A part of the program did not stop cleanly', { error });
    }
  }
}

async function publishCredentials(api: ManagementApi, cloud: RunningCloud, signal: AbortSignal): Promise<void> {
  const { publishCloudCredentials } = await import('../cloud-credentials.ts');
  const cloudsYaml = await readFile(cloud.cloudsYaml, 'utf8');
  await publishCloudCredentials(api.server.localClient(), { cloudsYaml, signal });
}

/** `--kubeconfig FILE` is written to that file only; otherwise a context is added to the default kubeconfig. */
async function writeAdminKubeconfig(api: ManagementApi, options: UpOptions, context: CommandContext): Promise<string> {
  const { env } = context;
  const path = resolve(options.kubeconfig ?? (env['KUBECONFIG'] || '').split(':')[0] ?? '') || '';
  const target = options.kubeconfig !== undefined || env['KUBECONFIG'] ? path : join(homedir(), '.kube', 'config');
  if (target === '') throw new CapstanError('CAP_USAGE', '--kubeconfig: the file name is empty');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { currentContextChanged } = await writeKubeconfigEntry({
    path: target,
    name: ownContext,
    clock: systemClock,
    cluster: { server: api.url, 'certificate-authority-data': base64(api.pki.authority.certificate) },
    user: {
      'client-certificate-data': base64(api.pki.admin.certificate),
      'client-key-data': base64(api.pki.admin.privateKey),
    },
  });
  if (currentContextChanged) context.log.info('Kubeconfig now points at the management API', { context: ownContext });
  return target;
}
