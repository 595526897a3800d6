import { CustomResourceDefinitions, Deployments } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError, sleep } from '../../machinery/index.ts';
import type { CommandContext } from '../context.ts';
import { isInstalledByUs } from './labels.ts';
import { migrateStorage, needsMigration } from './storage-migration.ts';
import { controllersKey } from './workload.ts';

/** Includes image pulls and the replacement of replicas. */
const patienceMs = 300_000;
const pollMs = 1000;

/** Rewrites all objects in the current storage version after an upgrade, for kinds whose storage version changed. */
export async function migrateInstalled(
  client: Client,
  { clock, signal, stdout, stderr }: Pick<CommandContext, 'clock' | 'signal' | 'stdout' | 'stderr'>,
): Promise<void> {
  const { items } = await client.list(CustomResourceDefinitions, { signal });
  if (!items.some((definition) => isInstalledByUs(definition) && needsMigration(definition))) return;
  stderr('waiting for the controllers, who convert what is stored in older versions\n');
  const deadline = clock.now() + patienceMs;
  while (!(await isRolledOut(client, signal))) {
    if (clock.now() > deadline) {
      throw new CapstanError(
        'CAP_KIND_NOT_SERVED',
        'the controllers are not ready, and objects are still stored in older versions',
        {
          hint: `everything works as before; look at the Pods of ${controllersKey.namespace} and run the same command again`,
        },
      );
    }
    await sleep(clock, pollMs, signal);
  }
  await migrateStorage(client, isInstalledByUs, {
    signal,
    onMigrated: (name, objects, version) => stdout(`crd/${name} migrated: ${objects} objects stored as ${version}\n`),
    onRefused: (name, reason) => stderr(`crd/${name} not migrated: ${reason}\n`),
  });
}

/** Tells whether all replicas have the current version and are ready. */
async function isRolledOut(client: Client, signal: AbortSignal): Promise<boolean> {
  const { metadata, spec, status } = await client.get(Deployments, controllersKey, { signal });
  const wanted = spec.replicas ?? 1;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.updatedReplicas ?? 0) >= wanted &&
    (status?.availableReplicas ?? 0) >= wanted &&
    (status?.replicas ?? 0) === wanted
  );
}
