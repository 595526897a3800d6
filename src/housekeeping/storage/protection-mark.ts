import { type Client, objectKey } from '../../client/index.ts';
import { ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** State of the protection finalizer: to be added, to be checked again, or nothing to do. */
export function markState({ metadata }: KubeObject, finalizer: string): 'missing' | 'held' | 'settled' {
  const marked = metadata.finalizers?.includes(finalizer) ?? false;
  if (metadata.deletionTimestamp === undefined) return marked ? 'settled' : 'missing';
  return marked ? 'held' : 'settled';
}

/** Adds or removes the finalizer, unless the object changed in the meantime. */
export async function writeMark<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: { marked: boolean; fieldManager: string; signal: AbortSignal },
): Promise<void> {
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  const patch = {
    metadata: {
      resourceVersion: object.metadata.resourceVersion ?? '',
      finalizers: options.marked ? [...others, finalizer] : others,
    },
  };
  const { fieldManager, signal } = options;
  await client.patch(resource, objectKey(object), 'merge', patch, { fieldManager, signal }).catch(ignoreNotFound);
}
