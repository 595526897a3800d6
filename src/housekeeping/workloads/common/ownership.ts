import { type Client, type InformerFactory, type Lister, type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  isInvalid,
  isNotFound,
  type KubeObject,
  must,
  type OwnerReference,
  type Resource,
} from '../../../machinery/index.ts';
import { type Watch, watchMapped } from '../../../runtime/index.ts';
import { fieldManager } from './names.ts';

const byController = 'by-controller';

/** Objects are found by the uid of what controls them, those without a controller by their namespace. */
export function indexByController<T extends KubeObject>(cache: InformerFactory, resource: Resource<T>): Lister<T> {
  const informer = cache.informer(resource);
  informer.addIndexer(byController, (object) => [controllerOf(object)?.uid ?? orphanage(object.metadata.namespace)]);
  return informer.lister;
}

/** No uid looks like it. */
function orphanage(namespace: string | undefined): string {
  return `orphans of ${namespace ?? ''}`;
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

export function controlledBy<T extends KubeObject>(lister: Lister<T>, owner: KubeObject): T[] {
  return lister.byIndex(byController, owner.metadata.uid ?? '');
}

/** The reference by which an owner controls what it made. */
export function controllerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return {
    apiVersion,
    kind,
    name: must(metadata.name, 'metadata.name'),
    uid: must(metadata.uid, 'metadata.uid'),
    controller: true,
    blockOwnerDeletion: true,
  };
}

export interface Claim<T extends KubeObject> {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly lister: Lister<T>;
  readonly owner: KubeObject;
  /** whether the owner's selector is for the object */
  readonly selects: (object: T) => boolean;
  /** what the owner holds an object by: put on with adoption, taken off with release */
  readonly finalizer?: string;
}

/**
 * What an owner controls: those it made, without those its selector is no longer for, which are let go, and with those
 * nobody controls that it selects, which are taken in.
 */
export async function claimObjects<T extends KubeObject>(claim: Claim<T>): Promise<T[]> {
  const { lister, owner, selects } = claim;
  const kept: T[] = [];
  const isLeaving = owner.metadata.deletionTimestamp !== undefined;
  for (const object of controlledBy(lister, owner)) {
    if (isLeaving || selects(object)) kept.push(object);
    else if (object.metadata.deletionTimestamp === undefined) await release(claim, object);
  }
  if (isLeaving) return kept;
  for (const orphan of lister.byIndex(byController, orphanage(owner.metadata.namespace))) {
    if (orphan.metadata.deletionTimestamp !== undefined || !selects(orphan)) continue;
    const adopted = await adopt(claim, orphan);
    if (adopted) kept.push(adopted);
  }
  return kept;
}

async function adopt<T extends KubeObject>(claim: Claim<T>, object: T): Promise<T | undefined> {
  const { ownerReferences = [], finalizers = [] } = object.metadata;
  const { finalizer } = claim;
  const held = finalizer && !finalizers.includes(finalizer) ? [...finalizers, finalizer] : undefined;
  return await writeOwners(claim, object, [...ownerReferences, controllerReference(claim.owner)], held);
}

async function release<T extends KubeObject>(claim: Claim<T>, object: T): Promise<void> {
  const { uid } = claim.owner.metadata;
  const { ownerReferences = [], finalizers = [] } = object.metadata;
  const { finalizer } = claim;
  const left = finalizer && finalizers.includes(finalizer) ? finalizers.filter((one) => one !== finalizer) : undefined;
  await writeOwners(
    claim,
    object,
    ownerReferences.filter((owner) => owner.uid !== uid),
    left,
  );
}

/** undefined: it is gone, or another controller was quicker */
async function writeOwners<T extends KubeObject>(
  { client, resource }: Claim<T>,
  object: T,
  references: OwnerReference[],
  finalizers: string[] | undefined,
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const patch = {
    metadata: {
      uid: must(uid, 'uid'),
      resourceVersion: must(resourceVersion, 'resourceVersion'),
      ownerReferences: references as never,
      ...(finalizers && { finalizers }),
    },
  };
  try {
    return await client.patch(resource, objectKey(object), 'merge', patch, { fieldManager });
  } catch (error) {
    if (isNotFound(error) || isInvalid(error)) return undefined;
    throw error;
  }
}

/** An object that nobody controls wakes the owners that could take it in. */
export function watchOrphans<T extends KubeObject, O extends KubeObject>(
  resource: Resource<T>,
  owners: () => Lister<O> | undefined,
  selects: (owner: O, object: T) => boolean,
): Watch {
  const takers = (object: T): ObjectKey[] => {
    const { namespace } = object.metadata;
    const lister = owners();
    if (!lister || namespace === undefined) return [];
    return lister.list({ namespace, filter: (owner) => selects(owner, object) }).map(objectKey);
  };
  return watchMapped(resource, takers, {
    predicates: [({ type, object }) => type !== 'delete' && controllerOf(object) === undefined],
  });
}
