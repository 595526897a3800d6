import { CustomResourceDefinitions, Namespaces } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  CapstanError,
  ignoreNotFound,
  inParallel,
  isNotFound,
  type KubeObject,
  type Resource,
  sleep,
} from '../../machinery/index.ts';
import { readAdoption } from '../adopt/record.ts';
import { confirmDeletion } from '../confirm-deletion.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { systemNamespace } from '../controller-identity.ts';
import { describeObject, resourceOf } from '../install/apply-installation.ts';
import { installation } from '../install/installation.ts';
import { installedDefinitions } from '../install/installed-kinds.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { providerInventory } from '../provider-inventory.ts';

export interface UninstallOptions extends Omit<ConnectionOptions, 'namespace'> {
  includeCrd?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

/** Time for an API server to delete kinds without objects. */
const patienceMs = 120_000;
/** API servers process each definition slowly. */
const atOnce = 8;

/** Removes an installation. Kinds and their objects stay, unless requested and unused. */
export async function uninstall(options: UninstallOptions, context: CommandContext): Promise<number> {
  return await withConnection(options, context, async (connection) => {
    const { client, mapper } = connection;
    const { signal } = context;
    await refuseAdopted(client, signal);
    const kinds = options.includeCrd ? await ownKinds(client, signal) : [];
    // Runs before any change, because objects cannot be deleted without controllers.
    if (options.includeCrd) await refuseUsed(connection, context);
    if (!options.dryRun) {
      const what = options.includeCrd ? 'the controllers and their kinds' : 'the controllers';
      await confirmDeletion(what, connection, context, options);
    }
    const { others } = installation({ replicas: 1 });
    // Webhooks are removed first, because their server stops.
    for (const object of [...others].reverse()) {
      const resource = await resourceOf(mapper, object, signal).catch((error: unknown) => {
        // A kind that is not served has no objects.
        if (error instanceof CapstanError && error.code === 'CAP_KIND_NOT_SERVED') return undefined;
        throw error;
      });
      const { name = '', namespace } = object.metadata;
      const key = { name, ...(namespace !== undefined && { namespace }) };
      if (resource) await remove(client, resource, { key, what: describeObject(object) }, options, context);
    }
    await inParallel(
      kinds,
      (name) => remove(client, CustomResourceDefinitions, { key: { name }, what: `crd/${name}` }, options, context),
      { atOnce },
    );
    if (!options.dryRun && kinds.length > 0) await untilForgotten(client, new Set(kinds), context);
    if (!options.dryRun) await untilEmptied(client, context);
    return 0;
  });
}

async function remove<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { key, what }: { key: { name: string; namespace?: string }; what: string },
  { dryRun }: UninstallOptions,
  { stdout, signal }: CommandContext,
): Promise<void> {
  try {
    await client.delete(resource, key, { signal, ...(dryRun && { dryRun }) });
    stdout(`${what} deleted${dryRun ? ' (dry run)' : ''}\n`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The namespace contains the adoption record, which is required to restore upstream's controllers. */
async function refuseAdopted(client: Client, signal: AbortSignal): Promise<void> {
  if (!(await readAdoption(client, signal))) return;
  throw new CapstanError('CAP_ADOPTION', 'the clusters were taken over from the upstream controllers', {
    hint: 'give them back with `capstan adopt --release`, which also removes this installation',
  });
}

async function ownKinds(client: Client, signal: AbortSignal): Promise<string[]> {
  const { items } = await client.list(CustomResourceDefinitions, { signal });
  return items.filter(isInstalledByUs).map(({ metadata }) => metadata.name ?? '');
}

/** The inventory is part of the installation; all other objects of our kinds belong to clusters. */
async function refuseUsed({ client }: Connection, { signal }: CommandContext): Promise<void> {
  const inventory = new Set(providerInventory.map(({ metadata }) => metadata.name));
  const isInventory = ({ kind, metadata }: KubeObject): boolean =>
    kind === 'Provider' && metadata.namespace === systemNamespace && inventory.has(metadata.name);
  for (const { group, storageVersion, kind, plural, namespaced } of installedDefinitions) {
    const resource: Resource<KubeObject> = { group, version: storageVersion, kind, plural, namespaced };
    const items = await client.list(resource, { signal }).then(
      (list) => list.items,
      (error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      },
    );
    const used = items.find((object) => !isInventory(object));
    if (used === undefined) continue;
    const { namespace, name = '' } = used.metadata;
    throw new CapstanError(
      'CAP_KIND_IN_USE',
      `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} still exists: deleting its kind would delete it, and leave behind what it made`,
      { hint: 'nothing was changed; delete clusters first and let the controllers finish, or leave --include-crd out' },
    );
  }
}

async function untilForgotten(
  client: Client,
  names: ReadonlySet<string>,
  { clock, signal }: CommandContext,
): Promise<void> {
  const deadline = clock.now() + patienceMs;
  for (;;) {
    const { items } = await client.list(CustomResourceDefinitions, { signal });
    const left = items.filter(({ metadata }) => names.has(metadata.name ?? ''));
    if (left.length === 0) return;
    if (clock.now() > deadline) {
      throw new CapstanError('CAP_KIND_IN_USE', `${left[0]?.metadata.name} is still being deleted after two minutes`, {
        hint: 'look at its conditions: objects with finalizers keep it',
      });
    }
    await sleep(clock, 300, signal);
  }
}

/** Waits until the namespace is gone, because nothing can be installed while it is terminating. */
async function untilEmptied(client: Client, { clock, signal, stderr }: CommandContext): Promise<void> {
  const deadline = clock.now() + patienceMs;
  for (;;) {
    const namespace = await client.get(Namespaces, { name: systemNamespace }, { signal }).catch(ignoreNotFound);
    if (!namespace) return;
    if (clock.now() > deadline) {
      stderr(`the namespace ${systemNamespace} is still being deleted: its conditions say what is left in it\n`);
      return;
    }
    await sleep(clock, 300, signal);
  }
}
