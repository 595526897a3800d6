export const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';
