import { type Client, objectKey } from '../../client/index.ts';
import type { KubeObject, ManagedFieldsEntry, Resource } from '../../machinery/index.ts';

/** Field manager of all writes of an adoption or release. */
export const adoptionManager = 'capstan-adoption';

/** Restores the field managers of an object and changes nothing else. */
export async function restoreOwners<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  { managedFields, signal }: { managedFields: readonly ManagedFieldsEntry[] | undefined; signal: AbortSignal },
): Promise<void> {
  const isOurs = object.metadata.managedFields?.some(({ manager }) => manager === adoptionManager) ?? false;
  if (!isOurs || !managedFields || managedFields.length === 0) return;
  const patch = { metadata: { managedFields: managedFields.map((entry) => ({ ...entry })) } };
  await client.patch(resource, objectKey(object), 'merge', JSON.parse(JSON.stringify(patch)), {
    fieldManager: adoptionManager,
    signal,
  });
}
