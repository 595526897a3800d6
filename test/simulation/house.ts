import type { ApiServer } from '../../src/apiserver/index.ts';
import { housekeepingControllers } from '../../src/housekeeping/index.ts';
import { type Clock, type KubeObject, type Resource, seededRandom } from '../../src/machinery/index.ts';
import { createManager, type Logger } from '../../src/runtime/index.ts';
import { unreadMetrics } from '../../src/simkube/index.ts';
import { managementKeys } from './management-keys.ts';
import { slowWrites } from './slow-writes.ts';

/** Runs the built-in controllers of Kubernetes for a management API. Resolves when they have stopped. */
export async function keepHouse(
  server: ApiServer,
  { clock, seed, signal, log }: { clock: Clock; seed: number; signal: AbortSignal; log: Logger },
): Promise<void> {
  const { authority } = await managementKeys(clock);
  const keepers = createManager({
    client: slowWrites(server.localClient(), clock),
    clock,
    random: seededRandom(seed + 2),
    log,
    metrics: unreadMetrics(),
    gracefulStopMs: 1_000,
  });
  for (const controller of housekeepingControllers({
    served: { listResources: () => listable(server), onChange: (callback) => server.registry.onChange(callback) },
    certificateAuthority: authority.certificate,
    signingAuthority: authority,
  })) {
    keepers.add(controller);
  }
  await keepers.run(signal);
}

export function listable(server: ApiServer): Resource<KubeObject>[] {
  return [...server.registry.all()].flatMap(({ definition }) => {
    const version = definition.versions.find(({ served }) => served);
    const verbs: readonly string[] = definition.verbs;
    if (!version || !['list', 'watch', 'delete'].every((verb) => verbs.includes(verb))) return [];
    const { group, kind, plural, namespaced } = definition;
    return [{ group, version: version.name, kind, plural, namespaced } as Resource<KubeObject>];
  });
}
