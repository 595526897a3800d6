import { Clusters, HostedControlPlanes, K0smotronControlPlanes, KamajiControlPlanes } from '../../api/index.ts';
import type { AdmissionStep } from '../../apiserver/index.ts';
import {
  clusterFinalizer,
  hostedFinalizer,
  k0smotronFinalizer,
  kamajiFinalizer,
  kubeadmProvider,
  rke2Provider,
} from '../../controllers/index.ts';
import type { Resource } from '../../machinery/index.ts';

/** Kinds that users create, and the finalizer that the controller sets before anything else. */
const finalizers: readonly { resource: Resource; finalizer: string }[] = [
  { resource: Clusters, finalizer: clusterFinalizer },
  kubeadmProvider,
  rke2Provider,
  { resource: K0smotronControlPlanes, finalizer: k0smotronFinalizer },
  { resource: KamajiControlPlanes, finalizer: kamajiFinalizer },
  { resource: HostedControlPlanes, finalizer: hostedFinalizer },
];

/**
 * Sets the first finalizer of new objects, which saves their controller a write. Kinds with resources in a cloud are not
 * among them: a finalizer without the owner mark says that upstream's controllers began the object.
 */
export function firstFinalizers(): AdmissionStep {
  const finalizerOf = ({ group, plural }: { group: string; plural: string }): string | undefined =>
    finalizers.find(({ resource }) => resource.group === group && resource.plural === plural)?.finalizer;
  return {
    name: 'FirstFinalizers',
    concerns: (kind) => finalizerOf(kind) !== undefined,
    operations: ['CREATE'],
    appliesTo: ({ subresource }) => subresource === undefined,
    async mutate({ object, target }) {
      const finalizer = finalizerOf(target.resource.definition);
      if (!object || finalizer === undefined) return;
      const { finalizers: given = [] } = object.metadata;
      if (!given.includes(finalizer)) object.metadata.finalizers = [...given, finalizer];
    },
  };
}
