export const clusterStackGroup = 'clusterstack.x-k8s.io';
/** of the objects that providers make for releases */
export const stackInfrastructureGroup = 'infrastructure.clusterstack.x-k8s.io';
