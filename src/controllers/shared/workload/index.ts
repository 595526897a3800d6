export * from './drift-watch.ts';
export * from './http-workload.ts';
export * from './kubeconfig-connection.ts';
export * from './projection.ts';
export * from './repairs.ts';
export * from './served-kinds.ts';
export * from './types.ts';
export * from './workload-clusters.ts';
