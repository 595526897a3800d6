import { type EndpointSlice, EndpointSlices } from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import { deepEqual, ignoreNotFound, type KubeObject, must } from '../../../machinery/index.ts';
import { isNamespaceTerminating } from '../common/make-pods.ts';
import { fieldManager } from '../common/names.ts';
import { controllerReference } from '../common/ownership.ts';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

/** Content of a slice without its identity. */
export type SliceContent = Required<Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>>;

export interface SliceMarks {
  readonly labels: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

/**
 * Writes the desired slices of an owner. Slices with the right content stay; others are updated and reused where
 * possible.
 */
export async function writeSlices(
  client: Client,
  owner: KubeObject,
  marks: SliceMarks,
  present: readonly EndpointSlice[],
  desired: readonly SliceContent[],
): Promise<void> {
  const left = new Set(present);
  const missing = desired.filter((content) => {
    const same = [...left].find((slice) => isSame(slice, content) && hasMarks(slice, marks));
    return same === undefined || !left.delete(same);
  });
  for (const content of missing) {
    // addressType is immutable.
    const reused = [...left].find(({ addressType }) => addressType === content.addressType);
    if (reused) {
      left.delete(reused);
      const changed: EndpointSlice = { ...reused, ...content, metadata: { ...reused.metadata, ...marks } };
      await client.update(EndpointSlices, changed, { fieldManager }).catch(ignoreNotFound);
    } else await create(client, owner, marks, content);
  }
  for (const slice of left) await client.delete(EndpointSlices, objectKey(slice)).catch(ignoreNotFound);
}

function isSame(slice: EndpointSlice, { addressType, endpoints, ports }: SliceContent): boolean {
  return (
    slice.addressType === addressType &&
    deepEqual(slice.endpoints ?? [], endpoints) &&
    deepEqual(slice.ports ?? [], ports)
  );
}

function hasMarks({ metadata }: EndpointSlice, { labels, annotations }: SliceMarks): boolean {
  return deepEqual(metadata.labels, labels) && (!annotations || deepEqual(metadata.annotations ?? {}, annotations));
}

async function create(client: Client, owner: KubeObject, marks: SliceMarks, content: SliceContent): Promise<void> {
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: must(owner.metadata.namespace, 'owner.metadata.namespace'),
      ...marks,
      ownerReferences: [controllerReference(owner)],
    },
    ...content,
  };
  await client.create(EndpointSlices, slice, { fieldManager }).catch((error: unknown) => {
    if (!isNamespaceTerminating(error)) throw error;
  });
}
