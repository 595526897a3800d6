import { isJsonObject, type JsonObject, type KubeObject } from '../machinery/index.ts';

/** Adds the resourceVersion `object` was read at, so that the server refuses the patch when somebody wrote in between. */
export function withOptimisticLock(patch: JsonObject, object: KubeObject): JsonObject {
  const metadata = isJsonObject(patch['metadata']) ? patch['metadata'] : {};
  return { ...patch, metadata: { ...metadata, resourceVersion: object.metadata.resourceVersion } };
}
