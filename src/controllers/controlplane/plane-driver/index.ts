// Engine for hosted planes: controllers translate their kind to a spec, call `drive` and publish the report.

export { annotatedApiServer, annotatedBackup, annotatedRequests } from './annotations.ts';
export { connectPodOver, noWayToPods } from './connect-pod.ts';
export * from './driver.ts';
export type { OpenPlaneEtcd, PlaneEtcdTarget } from './etcd/connect.ts';
export type { EtcdClusterReport, EtcdClusterRequest } from './etcd-cluster.ts';
export type { RemovalRequest } from './removal.ts';
export * from './types.ts';
export { warnOnce } from './warnings.ts';
