import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  errorMessage,
  inParallel,
  isConflict,
  isNotFound,
  type KubeObject,
  type Resource,
} from '../../machinery/index.ts';

const by = { fieldManager: 'capstan' };
const pageSize = 200;
/** The API server converts each object, so more parallel requests would only wait. */
const atOnce = 8;
const maxAttempts = 5;

export interface MigrationOptions {
  readonly signal: AbortSignal;
  onMigrated(name: string, objects: number, version: string): void;
  /** objects of a kind could not be written; the kind is unchanged and still readable */
  onRefused(name: string, reason: string): void;
}

/** Tells whether objects of a kind may be stored in another version than the storage version. */
export function needsMigration({ spec, status }: CustomResourceDefinition): boolean {
  const storage = storageVersionOf({ spec });
  return storage !== undefined && (status?.storedVersions ?? []).some((version) => version !== storage);
}

/**
 * Rewrites all objects of such kinds in the storage version and updates storedVersions, so that a later version can
 * drop the old one. An interrupted migration continues with the remaining kinds; the server does not write objects
 * again that are already migrated.
 */
export async function migrateStorage(
  client: Client,
  isConcerned: (definition: CustomResourceDefinition) => boolean,
  options: MigrationOptions,
): Promise<void> {
  const { items } = await client.list(CustomResourceDefinitions, { signal: options.signal });
  for (const definition of items) {
    if (isConcerned(definition) && needsMigration(definition)) await migrateKind(client, definition, options);
  }
}

async function migrateKind(
  client: Client,
  definition: CustomResourceDefinition,
  { signal, onMigrated, onRefused }: MigrationOptions,
): Promise<void> {
  const { name = '' } = definition.metadata;
  const version = storageVersionOf(definition) ?? '';
  const { group, names, scope } = definition.spec;
  const { kind, plural } = names;
  const resource: Resource<KubeObject> = { group, version, kind, plural, namespaced: scope === 'Namespaced' };
  let written = 0;
  let next: string | undefined;
  try {
    do {
      const page: { items: KubeObject[]; metadata: { continue?: string } } = await client.list(resource, {
        limit: pageSize,
        signal,
        ...(next !== undefined && { continue: next }),
      });
      await writeAgain(client, resource, page.items, signal);
      written += page.items.length;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  } catch (error) {
    if (signal.aborted) throw error;
    onRefused(name, errorMessage(error));
    return;
  }
  if (await trim(client, definition, version, signal)) onMigrated(name, written, version);
  else onRefused(name, 'its definition stores in another version since; run the same command again');
}

/** Updates storedVersions; returns true if done, false if the storage version changed meanwhile. */
async function trim(
  client: Client,
  { metadata: { name = '' } }: CustomResourceDefinition,
  version: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const { metadata, spec } = await client.get(CustomResourceDefinitions, { name }, { signal });
    if (storageVersionOf({ spec }) !== version) return false;
    const { resourceVersion } = metadata;
    const patch = {
      metadata: { ...(resourceVersion !== undefined && { resourceVersion }) },
      status: { storedVersions: [version] },
    };
    try {
      await client.patch(CustomResourceDefinitions, { name }, 'merge', patch, { ...by, subresource: 'status', signal });
      return true;
    } catch (error) {
      // The webhook server may write the CA bundle concurrently.
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
  }
}

/** Sends an empty change: the server stores the object in the current version, or does nothing if it already is. */
async function writeAgain(
  client: Client,
  resource: Resource<KubeObject>,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  await inParallel(
    objects,
    async ({ metadata: { namespace, name = '' } }) => {
      const key = { name, ...(namespace !== undefined && { namespace }) };
      await client.patch(resource, key, 'merge', {}, { ...by, signal }).catch((error: unknown) => {
        // The object was deleted meanwhile.
        if (!isNotFound(error)) throw error;
      });
    },
    { atOnce },
  );
}

function storageVersionOf({ spec }: Pick<CustomResourceDefinition, 'spec'>): string | undefined {
  return spec.versions.find(({ storage }) => storage)?.name;
}
