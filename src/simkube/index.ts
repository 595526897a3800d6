// A Kubernetes that is simulated: etcd, the API servers over it and the controllers, wherever these run. Machines of the
// simulated cloud and Pods of the embedded management API are made of it.
export { type ApiInstance, clusterOfApi, startApiInstance } from './cluster/api-instance.ts';
export { duplexPair } from './cluster/duplex-pair.ts';
export { ClusterRegistry } from './cluster/registry.ts';
export {
  type CloudView,
  type ClusterNode,
  type ClusterSettings,
  WorkloadCluster,
} from './cluster/workload-cluster.ts';
export { createEtcdServer, type EtcdServer } from './etcd/grpc-server.ts';
export { numberField, readFields, textFields, writeFields } from './etcd/protobuf.ts';
export { uninitializedTaint } from './names.ts';
export type { SimulatedKubernetesOptions } from './options.ts';
export type { ProcessFiles, SimulatedProcess, SimulatedProgram } from './process.ts';
export type { ApiCredentials, PortService, ReachableApi } from './types.ts';
