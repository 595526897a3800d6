import type { DaemonSet, Deployment, PodSpec } from '../../../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../../../client/index.ts';
import type { JsonValue, Resource } from '../../../../machinery/index.ts';
import { fieldManager } from '../../../shared/index.ts';

/**
 * Patches the Pod template of a workload. Lists are replaced as a whole, so the patch requires the read
 * resourceVersion.
 */
export async function patchPodTemplate<T extends DaemonSet | Deployment>(
  client: Client,
  resource: Resource<T>,
  object: T,
  change: (spec: PodSpec) => Partial<PodSpec>,
  signal: AbortSignal,
): Promise<T> {
  const spec = object.spec.template?.spec;
  if (!spec) return object;
  const patch = { spec: { template: { spec: change(spec) as JsonValue } } };
  return await client.patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), {
    fieldManager,
    signal,
  });
}

export function withImage({ containers }: PodSpec, container: string, image: string): Pick<PodSpec, 'containers'> {
  return { containers: containers.map((one) => (one.name === container ? { ...one, image } : one)) };
}
