export const bootstrapGroup = 'bootstrap.cluster.x-k8s.io';
