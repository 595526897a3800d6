// Names on objects that are part of the contract of cluster stacks, and ours.

export const releaseFinalizer = 'clusterstackrelease.clusterstack.x-k8s.io';

/** on everything that a release or its add-ons brought */
export const instanceLabel = 'clusterstack.x-k8s.io/instance';
export const ownedInstance = 'owned';

/** on objects of a release: its name, so that a change of one finds the way back */
export const releaseAnnotation = 'stacks.capstan.dev/release';
/** on a ClusterStackRelease: of the files that were used first */
export const digestAnnotation = 'stacks.capstan.dev/digest';

export const stackFieldManager = 'capstan-cluster-stack';
