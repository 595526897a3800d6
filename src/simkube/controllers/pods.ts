import { createHash } from 'node:crypto';
import { type Pod, Pods, type PodTemplateSpec } from '../../api/index.ts';
import type { Client, InformerFactory, Lister } from '../../client/index.ts';
import {
  clone,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from '../../machinery/index.ts';

export const podsByOwner = 'by-controller';

/** Pods are found by the uid of what controls them. */
export function indexPodsByOwner(cache: InformerFactory): void {
  cache.informer(Pods).addIndexer(podsByOwner, ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    return owner ? [owner.uid] : [];
  });
}

export function ownedPods(lister: Lister<Pod>, owner: KubeObject): Pod[] {
  return lister.byIndex(podsByOwner, owner.metadata.uid ?? '');
}

export function selects(
  selector: LabelSelectorObject | undefined,
  labels: Record<string, string> | undefined,
): boolean {
  return labelSelectorFromObject(selector).matches(labels ?? {});
}

/** A name part that stands for the content of a template. */
export function templateHash(template: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(template)).digest();
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  let text = '';
  for (let index = 0; index < 10; index++) text += alphabet[digest[index]! % alphabet.length];
  return text;
}

/** A Pod from the template of what controls it. */
export function podFromTemplate(
  owner: KubeObject,
  template: PodTemplateSpec,
  identity: { name?: string; generateName?: string; labels?: Record<string, string> },
): Pod {
  const { metadata = {}, spec } = clone(template);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(identity.name !== undefined && { name: identity.name }),
      ...(identity.generateName !== undefined && { generateName: identity.generateName }),
      namespace: owner.metadata.namespace!,
      labels: { ...metadata.labels, ...identity.labels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: owner.metadata.name!,
          uid: owner.metadata.uid!,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: spec!,
  };
}

/** Creates a Pod; one of the same name is there already when the cache is late. */
export async function createPod(client: Client, pod: Pod, fieldManager: string): Promise<void> {
  try {
    await client.create(Pods, pod, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

export async function deletePod(client: Client, pod: Pod): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  try {
    await client.delete(Pods, { namespace: namespace!, name: name! }, { preconditions: { uid: uid! } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
