import { isJsonObject, type JsonObject, type KubeObject } from '../machinery/index.ts';

/** Adds the resourceVersion of `object`, so that the server refuses the patch after a concurrent write. */
export function withOptimisticLock(patch: JsonObject, object: KubeObject): JsonObject {
  const metadata = isJsonObject(patch['metadata']) ? patch['metadata'] : {};
  return { ...patch, metadata: { ...metadata, resourceVersion: object.metadata.resourceVersion } };
}
