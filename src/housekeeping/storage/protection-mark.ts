import { type Client, objectKey } from '../../client/index.ts';
import { ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** What the mark on an object asks for: to be set, to be looked at again, or nothing. */
export function markState({ metadata }: KubeObject, finalizer: string): 'missing' | 'held' | 'settled' {
  const marked = metadata.finalizers?.includes(finalizer) ?? false;
  if (metadata.deletionTimestamp === undefined) return marked ? 'settled' : 'missing';
  return marked ? 'held' : 'settled';
}

/** Sets or takes away the mark, unless somebody else changed the object meanwhile. */
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
