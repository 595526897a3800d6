// Names of the cluster stack contract, and Capstan's own.

export const releaseFinalizer = 'clusterstackrelease.clusterstack.x-k8s.io';

/** label of everything that a release or its add-ons created */
export const instanceLabel = 'clusterstack.x-k8s.io/instance';
export const ownedInstance = 'owned';

/** annotation of release objects: the release, so that changes trigger its reconcile */
export const releaseAnnotation = 'stacks.capstan.dev/release';
/** annotation of a ClusterStackRelease: digest of the files when first used */
export const digestAnnotation = 'stacks.capstan.dev/digest';

export const stackFieldManager = 'capstan-cluster-stack';
