import { loopbackUser } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { housekeepingControllers, type ServedResources } from '../housekeeping/index.ts';
import { type Resource, systemClock, systemRandom } from '../machinery/index.ts';
import { createManager, type Logger, type RuntimeMetrics } from '../runtime/index.ts';
import type { ManagementApi } from './management-api.ts';

export interface Housekeeping {
  /** rejects when a controller cannot go on */
  failed: Promise<void>;
  stop(): Promise<void>;
}

/** Starts the controllers every Kubernetes has and resolves when their caches are filled. */
export async function startHousekeeping(
  api: ManagementApi,
  options: { metrics: RuntimeMetrics; log: Logger; signal: AbortSignal },
): Promise<Housekeeping> {
  const { metrics, log, signal } = options;
  const { server } = api;
  // The garbage collector follows every object there is; holding them all parsed would multiply the memory they take.
  const client: Client = server.localClient(loopbackUser, isReadWhole);
  const manager = createManager({ client, clock: systemClock, random: systemRandom, log, metrics });
  const served: ServedResources = {
    listResources: () => listableResources(api),
    onChange: (callback) => server.registry.onChange(callback),
  };
  const { authority } = api.pki;
  const controllers = housekeepingControllers({
    served,
    certificateAuthority: authority.certificate,
    signingAuthority: authority,
    reader: server.localClient(loopbackUser),
  });
  for (const controller of controllers) manager.add(controller);
  server.addHealthCheck({
    name: 'controllers',
    in: ['readyz'],
    check() {
      const { ok, problems } = manager.ready();
      if (!ok) throw new Error(problems.join('; '));
    },
  });
  const stop = new AbortController();
  const running = manager.run(AbortSignal.any([stop.signal, signal]));
  await Promise.race([manager.whenReady(signal), running]);
  return {
    failed: running,
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

/** What controllers look into; of everything else they follow the identities only. */
function isReadWhole({ group, plural }: { group: string; plural: string }, name: string): boolean {
  if (group === 'certificates.k8s.io') return true;
  if (group !== '') return false;
  if (plural === 'configmaps') return name === 'kube-root-ca.crt' || name === 'cluster-info';
  return plural === 'namespaces' || (plural === 'secrets' && name.startsWith('bootstrap-token-'));
}

function listableResources(api: ManagementApi): Resource[] {
  const resources: Resource[] = [];
  for (const { definition } of api.server.registry.all()) {
    const version = definition.versions.find(({ served }) => served);
    const verbs: readonly string[] = definition.verbs;
    if (!version || !['list', 'watch', 'delete'].every((verb) => verbs.includes(verb))) continue;
    const { group, kind, plural, namespaced } = definition;
    resources.push({ group, version: version.name, kind, plural, namespaced });
  }
  return resources;
}
