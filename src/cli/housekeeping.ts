import { followableResources, loopbackUser } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { housekeepingControllers } from '../housekeeping/index.ts';
import { systemClock, systemRandom } from '../machinery/index.ts';
import { createManager, type Logger, type RuntimeMetrics } from '../runtime/index.ts';
import type { ManagementApi } from './management-api.ts';
import { type RunningManager, runManager } from './running-manager.ts';

/** Starts the standard controllers of Kubernetes; resolves when their caches have synced. */
export async function startHousekeeping(
  api: ManagementApi,
  options: { metrics: RuntimeMetrics; log: Logger; signal: AbortSignal },
): Promise<RunningManager> {
  const { metrics, log, signal } = options;
  const { server } = api;
  // The garbage collector watches every object, and parsing all of them would multiply the memory use.
  const client: Client = server.localClient(loopbackUser, isReadWhole);
  const manager = createManager({ client, clock: systemClock, random: systemRandom, log, metrics });
  const { authority } = api.pki;
  const controllers = housekeepingControllers({
    served: followableResources(server.registry),
    certificateAuthority: authority.certificate,
    signingAuthority: authority,
    reader: server.localClient(loopbackUser),
  });
  for (const controller of controllers) manager.add(controller);
  return runManager(manager, { server, name: 'controllers', signal });
}

/** Selects the objects that controllers read; of all others only the identity is cached. */
function isReadWhole({ group, plural }: { group: string; plural: string }, name: string): boolean {
  if (group === 'certificates.k8s.io') return true;
  if (group !== '') return false;
  if (plural === 'configmaps') return name === 'kube-root-ca.crt' || name === 'cluster-info';
  return plural === 'namespaces' || (plural === 'secrets' && name.startsWith('bootstrap-token-'));
}
