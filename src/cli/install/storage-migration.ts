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
/** an API server converts each; more at once only wait there */
const atOnce = 8;
const maxAttempts = 5;

export interface MigrationOptions {
  readonly signal: AbortSignal;
  /** a kind is stored in one version */
  onMigrated(name: string, objects: number, version: string): void;
  /** objects of a kind could not be written; the kind stays as it is, and everything can be read as before */
  onRefused(name: string, reason: string): void;
}

/** Kinds of which objects may be stored in a version that is not the one they are stored in today. */
export function needsMigration({ spec, status }: CustomResourceDefinition): boolean {
  const storage = storageVersionOf({ spec });
  return storage !== undefined && (status?.storedVersions ?? []).some((version) => version !== storage);
}

/**
 * Writes every object of such kinds again, so that it is stored in today's version, and says so in the definition: only then a later
 * version may drop the old one. Whoever ends it begins again with the kinds that are not done; what was written already is not written
 * again by the server.
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

/** True when the definition says that its objects are stored in one version; false when it is another one by now. */
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
      // those who serve webhooks write whom to trust
      if (!isConflict(error) || attempt === maxAttempts) throw error;
    }
  }
}

/** An empty change: the server stores the object in today's version, and leaves it alone where it is. */
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
        // somebody has deleted it
        if (!isNotFound(error)) throw error;
      });
    },
    { atOnce },
  );
}

function storageVersionOf({ spec }: Pick<CustomResourceDefinition, 'spec'>): string | undefined {
  return spec.versions.find(({ storage }) => storage)?.name;
}
