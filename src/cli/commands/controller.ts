import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { type ConnectionConfig, type HttpClient, httpClient } from '../../client/index.ts';
import { CapstanError, sleep, systemRandom } from '../../machinery/index.ts';
import { type CheckResult, createMetrics, type Manager, type RuntimeMetrics } from '../../runtime/index.ts';
import { explained } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { keepMemorySmall } from '../controller/controller-memory.ts';
import { type Endpoint, healthPaths, metricsPaths, serveEndpoint } from '../controller/endpoints.ts';
import { hostIdentity, isWhole, leaderLease, sharesLease } from '../controller/leases.ts';
import { runControllers } from '../controller/run-controllers.ts';
import { installKinds, installRights, removeConfigurations, watchWebhooks } from '../controller/trial-installation.ts';
import { startWebhookService, type WebhookService } from '../controller/webhook-service.ts';
import { parseControllerAreas } from '../controller-areas.ts';
import { controllersUser } from '../controller-identity.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { migrateStorage } from '../install/storage-migration.ts';
import { agentDials, cellPlace } from '../lattice/endpoints.ts';
import { loadPrices } from '../load-prices.ts';
import { defaultDataDirectory, parseListenAddress } from '../management-api.ts';
import { peersOf } from '../peers.ts';
import { requireSupportedKubernetes, versioned } from '../server-version.ts';
import { stackSourcesOf } from '../stack-sources.ts';
import { targetApi } from '../target-api.ts';
import { version } from '../version.ts';

export interface ControllerOptions {
  kubeconfig?: string;
  context?: string;
  install?: boolean;
  controllers: string;
  watchFilter?: string;
  namespace?: string;
  leaderElect: boolean;
  shares?: boolean;
  metricsBindAddress: string;
  healthProbeBindAddress: string;
  webhookPort: string;
  bootstrapListen: string;
  agentListen: string;
  latticeHost?: string;
  backupDirectory?: string;
  /** file with the prices of the cloud */
  prices?: string;
  stacksSource?: string[];
  denyPeers?: string;
  allowPeers?: string;
}

/** Time until all proxies of a cluster have dropped an endpoint. */
const unroutedMs = 5_000;

/** Runs the controllers against a Kubernetes API until a signal arrives. */
export async function controller(options: ControllerOptions, context: CommandContext): Promise<number> {
  const { env, log, signal, clock } = context;
  const areas = parseControllerAreas(options.controllers);
  if (options.shares && !options.leaderElect) {
    throw new CapstanError('CAP_USAGE', '--shares: processes cannot share the work with --no-leader-elect', {
      hint: 'leave one of the two out',
    });
  }
  const webhookPort = parsePort(options.webhookPort);
  const config = await targetApi(options, env);
  const metrics = createMetrics();
  const connect = (connection: ConnectionConfig): HttpClient =>
    httpClient(connection, {
      userAgent: `capstan-controller/${version}`,
      onRequest: (observation) => metrics.restClientRequest(observation),
      onWarning: (text) => log.debug('The API server warns', { text }),
    });
  // Outside the cluster the user is an administrator, so the controllers impersonate their service account.
  const own = options.install ? { ...config, impersonate: asControllers() } : config;
  const administrator = options.install ? connect(config) : undefined;
  const client = connect(own);
  // Leases get their own connection, because a renewal behind a thousand other requests would come too late.
  const leaseClient = connect(own);
  const stops: (() => Promise<unknown>)[] = [
    () => client.close(),
    () => leaseClient.close(),
    async () => administrator?.close(),
  ];
  const stopKeeping = keepMemorySmall();
  stops.push(async () => stopKeeping());
  const state: { manager?: Manager; webhooks?: WebhookService } = {};
  const { watchFilter, namespace } = options;
  const scope = {
    areas,
    ...(namespace !== undefined && { namespace }),
    ...(watchFilter !== undefined && { watchFilter }),
  };
  try {
    for (const endpoint of await serveEndpoints(options, metrics, state)) stops.unshift(() => endpoint.close());
    await requireSupportedKubernetes(versioned(administrator ?? client, config), signal);
    if (administrator) await installRights(administrator, signal);
    const webhooks = await startWebhookService({
      client,
      clock,
      random: systemRandom,
      log,
      host: options.install ? '127.0.0.1' : '0.0.0.0',
      port: webhookPort,
      reconcilesAll: isWhole(scope),
      signal,
    });
    state.webhooks = webhooks;
    stops.unshift(() => webhooks.close());
    if (env['POD_IP']) stops.unshift(() => untilUnrouted({ clock, log }));
    if (administrator) {
      stops.unshift(() => removeConfigurations(administrator, { service: webhooks, clock, log }));
      await installKinds(administrator, { service: webhooks, areas, clock, signal });
      await webhooks.keeper.publish(signal);
      const watched = watchWebhooks(administrator, { service: webhooks, areas, clock, log });
      stops.unshift(() => watched.close());
      await migrateStorage(administrator, isInstalledByUs, {
        signal,
        onMigrated: (name, objects, storage) =>
          log.info('Stored objects in another version', { name, objects, storage }),
        onRefused: (name, reason) => log.warn('Objects are still stored in older versions', { name, reason }),
      });
    }
    const peers = peersOf({
      denyPeers: options.denyPeers,
      allowPeers: options.allowPeers,
      listenHost: options.install ? '127.0.0.1' : '0.0.0.0',
      simulatesCloud: false,
      simulatesPods: false,
    });
    context.stdout(`management API  ${config.server}\n`);
    context.stdout(`webhooks        port ${webhooks.port}\n`);
    const backupDirectory = resolve(options.backupDirectory ?? join(defaultDataDirectory(env), 'backups'));
    const stacks = stackSourcesOf(options.stacksSource, { env, clock, cache: defaultDataDirectory(env) });
    stops.unshift(stacks.close);
    const stackSources = stacks.sources;
    const prices = options.prices === undefined ? undefined : await loadPrices(options.prices);
    const podAddress = env['POD_IP'];
    // With sharding, an instance does not know which one reconciles the dialing cluster.
    const cell = options.shares ? undefined : cellPlace(options, podAddress ? { podAddress } : {});
    await runControllers({
      client,
      leaseClient,
      lease: options.shares
        ? sharesLease(hostIdentity(hostname()), scope)
        : options.leaderElect
          ? leaderLease(scope)
          : {},
      controllers: {
        ...scope,
        ...(cell && { cell }),
        agent: agentDials(config.server),
        peers,
        backupDirectory,
        stackSources,
        metrics,
        log,
        connection: own,
        ...(prices && { prices }),
      },
      onManager: (manager) => {
        state.manager = manager;
      },
      onReady: () => context.stdout('ready\n'),
      signal,
    });
  } catch (error) {
    if (!signal.aborted) throw explained(error, config);
  } finally {
    for (const stop of stops) {
      await stop().catch((error: unknown) => log.error('A part of the program did not stop cleanly', { error }));
    }
  }
  return 0;
}

/**
 * A Pod gets its signal while it still is an endpoint of the Service. Until proxies have learned that it is not, API
 * servers call the webhooks here, and would refuse writes if nobody answered.
 */
async function untilUnrouted({ clock, log }: Pick<CommandContext, 'clock' | 'log'>): Promise<void> {
  log.info('The webhooks answer until API servers are sent elsewhere', { ms: unroutedMs });
  await sleep(clock, unroutedMs);
}

function asControllers(): NonNullable<ConnectionConfig['impersonate']> {
  return { user: controllersUser.name, groups: [...controllersUser.groups] };
}

/** A standby instance is ready, too, because it serves the webhooks. */
function readiness({ manager, webhooks }: { manager?: Manager; webhooks?: WebhookService }): CheckResult {
  const problems = manager ? [...manager.ready().problems] : ['the controllers have not started'];
  if (!webhooks?.keeper.isPublished)
    problems.push('the API server does not have the certificate authority of the webhooks yet');
  return { ok: problems.length === 0, problems };
}

async function serveEndpoints(
  options: ControllerOptions,
  metrics: RuntimeMetrics,
  state: { manager?: Manager; webhooks?: WebhookService },
): Promise<Endpoint[]> {
  const wanted = [
    ['--metrics-bind-address', options.metricsBindAddress, metricsPaths(metrics)],
    [
      '--health-probe-bind-address',
      options.healthProbeBindAddress,
      healthPaths({
        healthy: () => state.manager?.healthy() ?? { ok: true, problems: [] },
        ready: () => readiness(state),
      }),
    ],
  ] as const;
  const served: Endpoint[] = [];
  for (const [flag, address, paths] of wanted) {
    if (address === '0' || address === '') continue;
    served.push(await serveEndpoint(parseListenAddress(address, flag), flag, paths));
  }
  return served;
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65535) return port;
  throw new CapstanError('CAP_USAGE', `--webhook-port: "${text}" is not a port`);
}
