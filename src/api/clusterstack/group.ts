export const clusterStackGroup = 'clusterstack.x-k8s.io';
/** API group of the objects that providers create for releases. */
export const stackInfrastructureGroup = 'infrastructure.clusterstack.x-k8s.io';
