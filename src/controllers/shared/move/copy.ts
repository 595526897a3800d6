import { clone, type KubeObject, type OwnerReference } from '../../../machinery/index.ts';
import { pausedAnnotation } from '../names.ts';
import { moveAnnotation } from './names.ts';

/** Builds the copy for the target: paused, annotated with the move id, with the uids of its owners there. */
export function copyFor(
  object: KubeObject,
  { move, newUid }: { move: string; newUid(uid: string): string | undefined },
): KubeObject {
  const copy = clone(object);
  const { name = '', namespace, labels, annotations, finalizers, ownerReferences = [] } = copy.metadata;
  const owners = ownerReferences.flatMap((owner): OwnerReference[] => {
    const uid = newUid(owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });
  copy.metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    annotations: { ...annotations, [moveAnnotation]: move, [pausedAnnotation]: move },
    ...(finalizers && finalizers.length > 0 && { finalizers }),
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
  return copy;
}
