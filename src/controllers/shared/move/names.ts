/** Annotation of all copies in a target until the move is done; the value is the move id. */
export const moveAnnotation = 'capstan.dev/move';
/** ConfigMap in the source with the progress of a move. */
export const recordName = 'capstan-move';
/** Cluster API annotation: a controller asks a move to wait. */
export const blockMoveAnnotation = 'clusterctl.cluster.x-k8s.io/block-move';
/** Cluster API annotation: the object is not really deleted, it continues elsewhere. */
export const deleteForMoveAnnotation = 'clusterctl.cluster.x-k8s.io/delete-for-move';
/** Cluster API label: a Secret or ConfigMap with it is moved with the clusters. */
export const moveLabel = 'clusterctl.cluster.x-k8s.io/move';
