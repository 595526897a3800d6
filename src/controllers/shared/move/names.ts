/** On everything a move makes in its target until it is done; the value is the move's id. */
export const moveAnnotation = 'capstan.dev/move';
/** The ConfigMap in the source that says how far a move is. */
export const recordName = 'capstan-move';
/** Of Cluster API: a controller asks a move to wait. */
export const blockMoveAnnotation = 'clusterctl.cluster.x-k8s.io/block-move';
/** Of Cluster API: the object is not deleted, it lives on elsewhere. */
export const deleteForMoveAnnotation = 'clusterctl.cluster.x-k8s.io/delete-for-move';
/** Of Cluster API: a Secret or ConfigMap with this label goes with the clusters. */
export const moveLabel = 'clusterctl.cluster.x-k8s.io/move';
