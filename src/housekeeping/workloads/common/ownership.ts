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

/** Indexes objects by the uid of their controller, and objects without a controller by namespace. */
export function indexByController<T extends KubeObject>(cache: InformerFactory, resource: Resource<T>): Lister<T> {
  const informer = cache.informer(resource);
  informer.addIndexer(byController, (object) => [controllerOf(object)?.uid ?? orphanage(object.metadata.namespace)]);
  return informer.lister;
}

/** The space makes it different from every uid. */
function orphanage(namespace: string | undefined): string {
  return `orphans of ${namespace ?? ''}`;
}

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

export function controlledBy<T extends KubeObject>(lister: Lister<T>, owner: KubeObject): T[] {
  return lister.byIndex(byController, owner.metadata.uid ?? '');
}

/** Builds the owner reference of a controller. */
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
  /** returns whether the owner's selector matches the object */
  readonly selects: (object: T) => boolean;
  /** finalizer that is added on adoption and removed on release */
  readonly finalizer?: string;
}

/**
 * Returns the objects an owner controls. Releases those its selector no longer matches, and adopts matching objects
 * without a controller.
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

/** Returns undefined if the object is gone or another controller was faster. */
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

/** Enqueues owners that could adopt an object without a controller. */
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
