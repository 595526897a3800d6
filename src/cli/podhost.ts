import { join } from 'node:path';
import { loopbackUser } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { systemClock, systemRandom } from '../machinery/index.ts';
import { type PodHost, startPodHost } from '../podhost/index.ts';
import type { Logger, RuntimeMetrics } from '../runtime/index.ts';
import type { PortService } from '../simkube/index.ts';
import type { ManagementApi } from './management-api.ts';
import { simulatedPods } from './simulated-pods.ts';
import { builtInProgram } from './stand-ins/built-in-program.ts';
import type { ControllerHealth } from './stand-ins/controller-health.ts';

export interface PodsOptions {
  dataDirectory: string;
  /** state of the controllers behind images of upstream's managers */
  health: ControllerHealth;
  metrics: RuntimeMetrics;
  log: Logger;
  signal: AbortSignal;
}

/** Runs the Pods of the management API as simulated programs with their data in DATA_DIR/pods. */
export async function startPods(api: ManagementApi, options: PodsOptions): Promise<PodHost> {
  const { dataDirectory, health, metrics, log, signal } = options;
  const { server } = api;
  const client: Client = server.localClient(loopbackUser);
  const simulation = simulatedPods({ directory: join(dataDirectory, 'pods'), log });
  const host = await startPodHost(
    {
      client,
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      sockets: true,
      managementApi: managementApi(api),
      logDirectory: simulation.logDirectory,
      backend: simulation.backend((image, argv) => builtInProgram(image, argv, ({ area }) => health.of(area))),
    },
    signal,
  );
  api.attachPods(host);
  server.addHealthCheck({
    name: 'pods',
    in: ['readyz'],
    check() {
      const { ok, problems } = host.ready();
      if (!ok) throw new Error(problems.join('; '));
    },
  });
  return {
    ...host,
    async stop() {
      await host.stop();
      await simulation.close();
    },
  };
}

/** Forwards to the API for Pods that use its Service. */
function managementApi({ server, pki }: ManagementApi): PortService {
  let acceptor: ReturnType<typeof server.acceptor> | undefined;
  return {
    accept(socket) {
      // Created on demand, because few Pods need it.
      acceptor ??= server.acceptor({
        cert: pki.server.certificate,
        key: pki.server.privateKey,
        clientCa: pki.authority.certificate,
      });
      acceptor.accept(socket);
    },
  };
}
