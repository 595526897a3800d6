import { isJsonObject, must, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import type { ServiceContext } from '../service/context.ts';
import { objectKey } from '../storage/keys.ts';

/** Returns the requested container, or the only container. */
export function chooseContainer(pod: UnstructuredObject, asked: string): string {
  const spec = isJsonObject(pod.spec) ? pod.spec : {};
  const names = [spec['initContainers'], spec['containers'], spec['ephemeralContainers']]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((container) => (isJsonObject(container) ? String(container['name']) : ''));
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw statusError.badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const byAnnotation = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (byAnnotation !== undefined && names.includes(byAnnotation)) return byAnnotation;
  if (names.length === 1) return must(names[0], 'the first of names');
  throw statusError.badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
  );
}

/** Returns the node of a pod, '' if it is not scheduled. */
export function nodeOf(pod: UnstructuredObject): string {
  const nodeName = isJsonObject(pod.spec) ? pod.spec['nodeName'] : undefined;
  return typeof nodeName === 'string' ? nodeName : '';
}

/** Throws a 404 if the node of a pod does not exist. kube-apiserver's message names the node as if it were a pod. */
export function checkNodeExists({ store }: ServiceContext, name: string): void {
  if (store.get(objectKey({ group: '', plural: 'nodes' }, undefined, name))) return;
  throw statusError.notFound({ group: '', resource: 'pods', name });
}
