/** Annotation of a LatticeCluster whose objects are elsewhere or being moved; absent if they are here. */
export const managementAnnotation = 'lattice.dev/management';
/** Annotation of the LatticeCluster inside its own cluster: uid of the parent's kube-system namespace. */
export const parentAnnotation = 'lattice.dev/parent';
/** Annotation with the image of the controllers inside the cluster. */
export const imageAnnotation = 'lattice.dev/image';
/** Annotation: the cluster is permanently lost with its state, so its deletion does not wait for it. */
export const lostAnnotation = 'lattice.dev/lost';

/** Namespace where a parent keeps kubeconfigs of self-managed clusters, whose own Secrets have moved. */
export const accessNamespace = 'lattice-system';
export const accessName = (cluster: string): string => `${cluster}-kubeconfig`;
