import { builtInAnnotation, Deployments, type Pod, Pods, ReplicaSets } from '../../api/index.ts';
import type { ObjectKey } from '../../client/index.ts';
import { ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchObjects,
} from '../../runtime/index.ts';
import { managerOfImage } from './built-in-managers.ts';

const hostNode = 'capstan';

/** Marks Pods and Deployments of built-in managers, so that users see that they run nothing. */
export function markingController(): ControllerDefinition {
  return defineController({
    name: 'stand-in',
    for: Pods,
    background: true,
    setup(factory) {
      factory.informer(ReplicaSets);
      factory.informer(Deployments);
    },
    watches: [
      watchObjects(Pods, {
        predicates: [({ object }) => areaOf(object) !== undefined && !isMarked(object) && isHere(object)],
      }),
    ],
    async reconcile(context, key) {
      const pod = context.cache.lister(Pods).get(key);
      const area = pod && areaOf(pod);
      if (!pod || area === undefined || !isHere(pod)) return done();
      await mark(context, Pods, pod, area);
      const set = ownerOf(context, ReplicaSets, pod);
      const deployment = set && ownerOf(context, Deployments, set);
      if (deployment) await mark(context, Deployments, deployment, area);
      return done();
    },
  });
}

const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[builtInAnnotation] !== undefined;
const isHere = ({ spec }: Pod): boolean => spec?.nodeName === hostNode;

function areaOf({ spec }: Pod): string | undefined {
  for (const { image } of spec?.containers ?? []) {
    const manager = managerOfImage(image ?? '');
    if (manager) return manager.area;
  }
  return undefined;
}

function ownerOf<T extends KubeObject>(
  { cache }: ReconcileContext,
  resource: Resource<T>,
  { metadata }: KubeObject,
): T | undefined {
  const owner = metadata.ownerReferences?.find(({ kind, controller }) => controller === true && kind === resource.kind);
  if (!owner) return undefined;
  const key: ObjectKey = { namespace: metadata.namespace ?? '', name: owner.name };
  return cache.lister(resource).get(key);
}

async function mark<T extends KubeObject>(
  { client, signal }: ReconcileContext,
  resource: Resource<T>,
  object: T,
  area: string,
): Promise<void> {
  if (isMarked(object)) return;
  const { namespace = '', name = '' } = object.metadata;
  const patch = { metadata: { annotations: { [builtInAnnotation]: area } } };
  await client
    .patch(resource, { namespace, name }, 'merge', patch, { fieldManager: 'capstan', signal })
    .catch(ignoreNotFound);
}
