import { PersistentVolumeClaims, type Pod, Pods, StorageClasses } from '../../api/index.ts';
import { claimNames, configMapNames, secretNames } from '../../apiserver/index.ts';
import type { InformerFactory, ObjectKey } from '../../client/index.ts';
import { type KubeObject, must } from '../../machinery/index.ts';
import type { PodContents } from './contents.ts';

const byReference = 'podhost-by-reference';

/** Index of the objects that Pods refer to, and of the Pods affected by their changes. */
export interface PodReferences {
  /** text that changes whenever an object the Pod refers to changes */
  keyOf(pod: Pod): string;
  /** Pods that refer to an object */
  podsOf(kind: 'secret' | 'configmap' | 'claim', object: KubeObject): ObjectKey[];
  /**
   * set if unbound claims block the Pod; `problem` has the scheduler's words, and is missing while the volumes are
   * provisioned
   */
  unboundClaim(pod: Pod): { readonly problem?: string } | undefined;
}

/** Must be called before the caches start. */
export function podReferences(cache: InformerFactory, contents: PodContents): PodReferences {
  const pods = cache.informer(Pods);
  const claims = cache.informer(PersistentVolumeClaims).lister;
  const classes = cache.informer(StorageClasses).lister;
  pods.addIndexer(byReference, referencesOf);
  return {
    keyOf(pod) {
      const namespace = namespaceOf(pod);
      const spec = referring(pod);
      let key = '';
      for (const name of secretNames(spec)) {
        key += `${contents.secret({ namespace, name })?.metadata.resourceVersion ?? '-'} `;
      }
      for (const name of configMapNames(spec)) {
        key += `${contents.configMap({ namespace, name })?.metadata.resourceVersion ?? '-'} `;
      }
      // Only the binding of a claim matters to the Pod, not its size or labels.
      for (const name of claimNames(nameOf(pod), spec)) {
        const claim = claims.get({ namespace, name });
        key += claim?.status?.phase === 'Bound' ? `${claim.spec.volumeName} ` : '- ';
      }
      return key;
    },
    podsOf: (kind, { metadata }) =>
      pods.lister
        .byIndex(byReference, `${kind} ${metadata.namespace}/${metadata.name}`)
        .map((pod) => ({ namespace: namespaceOf(pod), name: nameOf(pod) })),
    unboundClaim(pod) {
      const namespace = namespaceOf(pod);
      for (const name of claimNames(nameOf(pod), referring(pod))) {
        const claim = claims.get({ namespace, name });
        if (!claim) return { problem: `persistentvolumeclaim "${name}" not found` };
        if (claim.metadata.deletionTimestamp !== undefined) {
          return { problem: `persistentvolumeclaim "${name}" is being deleted` };
        }
        if (claim.status?.phase === 'Bound') continue;
        const { storageClassName } = claim.spec;
        if (storageClassName && classes.get({ name: storageClassName })) return {};
        return { problem: 'pod has unbound immediate PersistentVolumeClaims' };
      }
      return undefined;
    },
  };
}

/** Returns the parts of a Pod that refer to other objects. Unknown volume sources refer to nothing. */
function referring({ spec }: Pod): Parameters<typeof secretNames>[0] {
  return spec as object;
}

const nameOf = ({ metadata }: Pod): string => must(metadata.name, 'the name of a Pod');
const namespaceOf = ({ metadata }: Pod): string => must(metadata.namespace, 'the namespace of a Pod');

function referencesOf(pod: Pod): string[] {
  const { namespace } = pod.metadata;
  const spec = referring(pod);
  const all = [
    ...secretNames(spec).map((secret) => `secret ${namespace}/${secret}`),
    ...configMapNames(spec).map((map) => `configmap ${namespace}/${map}`),
    ...claimNames(nameOf(pod), spec).map((claim) => `claim ${namespace}/${claim}`),
  ];
  return [...new Set(all)];
}
