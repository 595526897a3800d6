/** On a LatticeCluster whose objects are elsewhere, or on their way; without it they are here. */
export const managementAnnotation = 'lattice.dev/management';
/** On the LatticeCluster inside of the cluster it stands for: the uid of kube-system of the parent. */
export const parentAnnotation = 'lattice.dev/parent';
/** Which image the controllers inside of the cluster are run from. */
export const imageAnnotation = 'lattice.dev/image';
/** The cluster is gone for good with what it knew of itself: its deletion does not wait for it. */
export const lostAnnotation = 'lattice.dev/lost';

/** Where a parent keeps the kubeconfigs of clusters that manage themselves: theirs have moved with them. */
export const accessNamespace = 'lattice-system';
export const accessName = (cluster: string): string => `${cluster}-kubeconfig`;
