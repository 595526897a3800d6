import type { DaemonSet, Deployment, PodSpec } from '../../../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../../../client/index.ts';
import type { JsonValue, Resource } from '../../../../machinery/index.ts';
import { fieldManager } from '../../../shared/index.ts';

/** Changes what the Pods of a workload are made from; lists are written whole, so nobody may have written in between. */
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
