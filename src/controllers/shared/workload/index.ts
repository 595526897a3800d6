export * from './http-workload.ts';
export * from './kubeconfig-connection.ts';
export * from './types.ts';
export * from './workload-clusters.ts';
