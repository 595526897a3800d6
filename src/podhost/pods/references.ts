import { ConfigMaps, PersistentVolumeClaims, type Pod, Pods, Secrets } from '../../api/index.ts';
import { claimNames, configMapNames, secretNames } from '../../apiserver/index.ts';
import type { InformerFactory, ObjectKey } from '../../client/index.ts';
import type { KubeObject } from '../../machinery/index.ts';

const byReference = 'podhost-by-reference';

/** Which objects Pods are made of besides their own: whose change concerns which Pods. */
export interface PodReferences {
  /** one text per state of all objects the Pod refers to */
  keyOf(pod: Pod): string;
  /** the Pods that refer to an object */
  podsOf(kind: 'secret' | 'configmap' | 'claim', object: KubeObject): ObjectKey[];
}

/** To be called before the caches start. */
export function podReferences(cache: InformerFactory, isOurs: (pod: Pod) => boolean): PodReferences {
  const pods = cache.informer(Pods);
  const secrets = cache.informer(Secrets).lister;
  const configMaps = cache.informer(ConfigMaps).lister;
  const claims = cache.informer(PersistentVolumeClaims).lister;
  pods.addIndexer(byReference, (pod) => (isOurs(pod) ? referencesOf(pod) : []));
  return {
    keyOf(pod) {
      const namespace = pod.metadata.namespace!;
      const spec = referring(pod);
      let key = '';
      for (const name of secretNames(spec)) {
        key += `${secrets.get({ namespace, name })?.metadata.resourceVersion ?? '-'} `;
      }
      for (const name of configMapNames(spec)) {
        key += `${configMaps.get({ namespace, name })?.metadata.resourceVersion ?? '-'} `;
      }
      // Of a claim only counts whether it has its volume: its size and its labels are nothing to the Pod.
      for (const name of claimNames(pod.metadata.name!, spec)) {
        const claim = claims.get({ namespace, name });
        key += claim?.status?.phase === 'Bound' ? `${claim.spec.volumeName} ` : '- ';
      }
      return key;
    },
    podsOf: (kind, { metadata }) =>
      pods.lister
        .byIndex(byReference, `${kind} ${metadata.namespace}/${metadata.name}`)
        .map(({ metadata: { namespace, name } }) => ({ namespace: namespace!, name: name! })),
  };
}

/** A Pod as far as it refers to others; sources of volumes that nobody here knows refer to nothing. */
function referring({ spec }: Pod): Parameters<typeof secretNames>[0] {
  return spec as object;
}

function referencesOf(pod: Pod): string[] {
  const { namespace, name } = pod.metadata;
  const spec = referring(pod);
  const all = [
    ...secretNames(spec).map((secret) => `secret ${namespace}/${secret}`),
    ...configMapNames(spec).map((map) => `configmap ${namespace}/${map}`),
    ...claimNames(name!, spec).map((claim) => `claim ${namespace}/${claim}`),
  ];
  return [...new Set(all)];
}
