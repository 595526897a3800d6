import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { type ConnectionConfig, type HttpClient, httpClient } from '../../client/index.ts';
import type { ReleaseSource } from '../../controllers/index.ts';
import { CapstanError, type PeerPolicy, systemClock, systemRandom } from '../../machinery/index.ts';
import {
  type CheckResult,
  createManager,
  createMetrics,
  type Manager,
  type RuntimeMetrics,
} from '../../runtime/index.ts';
import { explained } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { type Endpoint, healthPaths, metricsPaths, serveEndpoint } from '../controller/endpoints.ts';
import { installKinds, installRights, removeConfigurations } from '../controller/trial-installation.ts';
import { startWebhookService, type WebhookService } from '../controller/webhook-service.ts';
import { type ControllerArea, parseControllerAreas } from '../controller-areas.ts';
import { controllersUser, systemNamespace } from '../controller-identity.ts';
import { addControllers } from '../controllers.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { migrateStorage } from '../install/storage-migration.ts';
import { defaultDataDirectory, parseListenAddress } from '../management-api.ts';
import { peersOf } from '../peers.ts';
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
  metricsBindAddress: string;
  healthProbeBindAddress: string;
  webhookPort: string;
  backupDirectory?: string;
  stacksSource?: string[];
  denyPeers?: string;
  allowPeers?: string;
}

/**
 * Short enough that work goes on within seconds after a leader died, long enough that an API server may take a breath.
 * Waiting instances have their caches filled, so that the lease is all they wait for.
 */
const lease = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 1000 };

/** Runs the controllers against a Kubernetes until a signal asks it to stop. */
export async function controller(options: ControllerOptions, context: CommandContext): Promise<number> {
  const { env, log, signal, clock } = context;
  const areas = parseControllerAreas(options.controllers);
  const webhookPort = parsePort(options.webhookPort);
  const config = await targetApi(options, env);
  const metrics = createMetrics();
  const connect = (connection: ConnectionConfig): HttpClient =>
    httpClient(connection, {
      userAgent: `capstan-controller/${version}`,
      onRequest: (observation) => metrics.restClientRequest(observation),
      onWarning: (text) => log.debug('The API server warns', { text }),
    });
  // Outside of the cluster the rights are an administrator's: the controllers get along with those of their account.
  const own = options.install ? { ...config, impersonate: asControllers() } : config;
  const administrator = options.install ? connect(config) : undefined;
  const client = connect(own);
  const stops: (() => Promise<unknown>)[] = [() => client.close(), async () => administrator?.close()];
  const state: { manager?: Manager; webhooks?: WebhookService } = {};
  try {
    for (const endpoint of await serveEndpoints(options, metrics, state)) stops.unshift(() => endpoint.close());
    if (administrator) await installRights(administrator, signal);
    const webhooks = await startWebhookService({
      client,
      clock,
      random: systemRandom,
      log,
      host: options.install ? '127.0.0.1' : '0.0.0.0',
      port: webhookPort,
      signal,
    });
    state.webhooks = webhooks;
    stops.unshift(() => webhooks.close());
    if (administrator) {
      stops.unshift(() => removeConfigurations(administrator, webhooks));
      await installKinds(administrator, { service: webhooks, areas, clock, signal });
      await webhooks.keeper.publish(signal);
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
    await runControllers({
      client,
      connection: own,
      areas,
      peers,
      backupDirectory,
      stackSources,
      metrics,
      options,
      context,
      state,
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

interface RunOptions {
  client: HttpClient;
  connection: ConnectionConfig;
  areas: ReadonlySet<ControllerArea>;
  peers: PeerPolicy;
  backupDirectory: string;
  stackSources: readonly ReleaseSource[];
  metrics: RuntimeMetrics;
  options: ControllerOptions;
  context: CommandContext;
  /** shown by the health checks */
  state: { manager?: Manager };
}

/** Runs them, again after the lease was lost: whoever lost it waits for it like everybody else. */
async function runControllers(run: RunOptions): Promise<void> {
  const { client, connection, areas, peers, backupDirectory, stackSources, metrics, options, context, state } = run;
  const { log, signal } = context;
  const identity = `${hostname()}_${systemRandom.uuid()}`;
  const { namespace, watchFilter } = options;
  let said = false;
  while (!signal.aborted) {
    const manager = createManager({
      client,
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      instance: identity,
      ...(namespace !== undefined && { namespace }),
      ...(options.leaderElect && {
        leaderElection: { namespace: systemNamespace, name: 'capstan-controllers', identity, ...lease },
      }),
    });
    state.manager = manager;
    const close = addControllers(manager, client, {
      areas,
      peers,
      backupDirectory,
      stackSources,
      metrics,
      log,
      connection,
      ...(namespace !== undefined && { namespace }),
      ...(watchFilter !== undefined && { watchFilter }),
    });
    try {
      const running = manager.run(signal);
      await Promise.race([manager.whenReady(signal).catch(() => {}), running]);
      if (!said && !signal.aborted) context.stdout('ready\n');
      said = true;
      await running;
    } catch (error) {
      if (!(error instanceof CapstanError && error.code === 'CAP_LEADERSHIP_LOST') || signal.aborted) throw error;
      log.warn('Beginning again after the leader lease was lost');
    } finally {
      await close();
    }
  }
}

function asControllers(): NonNullable<ConnectionConfig['impersonate']> {
  return { user: controllersUser.name, groups: [...controllersUser.groups] };
}

/** An instance that waits to lead is ready, too: it serves the webhooks. */
function readiness({ manager, webhooks }: { manager?: Manager; webhooks?: WebhookService }): CheckResult {
  const problems = manager ? [...manager.ready().problems] : ['the controllers have not begun'];
  if (!webhooks?.keeper.isPublished) problems.push('the API server has not been told whom to trust for the webhooks');
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
