import { type ConnectionConfig, type HttpClient, httpClient, staticCredentials } from '../../client/index.ts';
import { createMetrics } from '../../runtime/index.ts';
import type { CommandContext } from '../context.ts';
import { keepMemorySmall } from '../controller/controller-memory.ts';
import { sharesLease } from '../controller/leases.ts';
import { runControllers } from '../controller/run-controllers.ts';
import { parseControllerAreas } from '../controller-areas.ts';
import { peersOf } from '../peers.ts';
import { stackSourcesOf } from '../stack-sources.ts';
import { version } from '../version.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';

/**
 * Longer than elsewhere: a crashed worker restarts under the same name before others take over, and the busy main
 * process may delay the API.
 */
const leaseDurationMs = 12_000;

/** Runs controllers of `capstan up` in a child process, which ends with the main process. */
export async function worker(context: CommandContext): Promise<number> {
  const stop = new AbortController();
  const settings = await new Promise<WorkerSettings>((resolve) => {
    process.on('message', (message: ToWorker) => {
      if (message.type === 'stop') stop.abort();
      else resolve(message.settings);
    });
    // Without the main process there is no API. The next start resumes the work.
    process.on('disconnect', () => process.exit(1));
  });
  context.signal.addEventListener('abort', () => stop.abort(), { once: true });
  const cancel = context.clock.after(settings.leaveAfterMs, () => stop.abort());
  const stopKeeping = keepMemorySmall();
  try {
    await work(settings, context, stop.signal);
  } finally {
    stopKeeping();
    cancel();
  }
  return 0;
}

async function work(settings: WorkerSettings, context: CommandContext, signal: AbortSignal): Promise<void> {
  const { env, clock } = context;
  const log = context.log.with({ worker: settings.name });
  const metrics = createMetrics();
  const connection: ConnectionConfig = {
    server: settings.server,
    certificateAuthority: settings.certificateAuthority,
    credentials: staticCredentials({ clientCertificate: settings.clientCertificate }),
    namespace: 'default',
    context: '',
  };
  const connect = (): HttpClient =>
    httpClient(connection, {
      userAgent: `capstan-worker/${version}`,
      onRequest: (observation) => metrics.restClientRequest(observation),
      onWarning: (text) => log.debug('The API server warns', { text }),
    });
  const clients = [connect(), connect()] as const;
  const { watchFilter, namespace, backupDirectory } = settings;
  const scope = {
    areas: parseControllerAreas(settings.controllers),
    ...(watchFilter !== undefined && { watchFilter }),
    ...(namespace !== undefined && { namespace }),
  };
  const stacks = stackSourcesOf(settings.stacksSource, { env, clock, cache: settings.dataDirectory });
  try {
    await runControllers({
      client: clients[0],
      leaseClient: clients[1],
      lease: sharesLease(settings.identity, scope, leaseDurationMs),
      controllers: {
        ...scope,
        peers: peersOf(settings.peers),
        backupDirectory,
        stackSources: stacks.sources,
        simulatedPods: settings.peers.simulatesPods,
        connection,
        metrics,
        log,
      },
      onManager: () => {},
      onReady: () => process.send?.({ type: 'ready' } satisfies FromWorker),
      signal,
    });
  } finally {
    await Promise.all([stacks.close(), ...clients.map((client) => client.close())]);
  }
}
