import { isJsonObject, must, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionStep } from './types.ts';

const isDefaultAnnotation = 'ingressclass.kubernetes.io/is-default-class';
const legacyClassAnnotation = 'kubernetes.io/ingress.class';

/** Sets the default class on Ingresses without one (kube-apiserver: DefaultIngressClass). */
export function defaultIngressClass(store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'DefaultIngressClass',
    concerns: ({ group, plural }) => group === 'networking.k8s.io' && plural === 'ingresses',
    operations: ['CREATE'],
    appliesTo: ({ subresource }) => subresource === undefined,
    mutate({ object }) {
      const spec = object?.spec;
      if (!object || !isJsonObject(spec) || spec['ingressClassName'] !== undefined) return;
      if (object.metadata.annotations?.[legacyClassAnnotation] !== undefined) return;
      const name = newestDefault(store)?.metadata.name;
      if (name !== undefined) spec['ingressClassName'] = name;
    },
  };
}

/** Returns the newest of several default classes; the name breaks ties. */
function newestDefault(store: Store<StoredObject>): UnstructuredObject | undefined {
  let best: UnstructuredObject | undefined;
  for (const { value } of store.list(keyPrefix({ group: 'networking.k8s.io', plural: 'ingressclasses' })).records) {
    const { metadata } = value.object;
    if (metadata.annotations?.[isDefaultAnnotation] !== 'true') continue;
    const [time = '', bestTime = ''] = [metadata.creationTimestamp, best?.metadata.creationTimestamp];
    if (
      !best ||
      time > bestTime ||
      (time === bestTime && must(metadata.name, 'metadata.name') < must(best.metadata.name, 'metadata.name'))
    )
      best = value.object;
  }
  return best;
}
