// A simulated Kubernetes: etcd, API servers and controllers, independent of where they run. Used by machines of the
// simulated cloud and by Pods of the embedded management API.
export { type ApiInstance, clusterOfApi, startApiInstance } from './cluster/api-instance.ts';
export { duplexPair } from './cluster/duplex-pair.ts';
export { ClusterRegistry } from './cluster/registry.ts';
export type { ClusterSettings, ControllerManagerSettings, ControllerRoles } from './cluster/settings.ts';
export { type ClusterNode, WorkloadCluster } from './cluster/workload-cluster.ts';
export { connectThrough, type InProcessApi, targetOf } from './connect-in-process.ts';
export { type AddressPool, createAddressPool } from './containers/address-pool.ts';
export { createSimulatedBackend, type ProgramChooser, type SimulatedBackendOptions } from './containers/backend.ts';
export type { FileTree } from './containers/file-tree.ts';
export { imageProgramName } from './containers/images.ts';
export { LogBuffer } from './containers/log-buffer.ts';
export {
  type ContainerExit,
  ContainerRefusedError,
  type ContainerRun,
  type ExecResult,
  type HostNetwork,
  type HttpGetOptions,
  type LogLine,
  type Mount,
  type PodBackend,
  type PodIdentity,
  type PodSandbox,
  type RunningContainer,
  type Volume,
  type VolumeFile,
} from './containers/types.ts';
export { attachmentName } from './controllers/attach-detach.ts';
export { type SchedulerOptions, schedulerController } from './controllers/scheduler.ts';
export { isDemanding, type PodRejection, podLimit, rejectionOn } from './controllers/scheduling/node-room.ts';
export { unreadMetrics } from './controllers/unread-metrics.ts';
export { dialWords } from './dial-words.ts';
export type { EtcdEndpoint } from './etcd/endpoint.ts';
export { createEtcdServer, type EtcdServer } from './etcd/grpc-server.ts';
export { EtcdKeys } from './etcd/keys.ts';
export { numberOf, readFields, textsOf, writeFields } from './etcd/protobuf.ts';
export { simulatedSnapshotKeys } from './etcd/snapshot.ts';
export { httpService } from './http-service.ts';
export { type KubeconfigFacts, readKubeconfig, renderKubeconfig, serverAddress } from './kubeconfigs.ts';
export { claimDirectory, directoryDriver } from './kubelet/claim-directory.ts';
export { logFiles } from './kubelet/log-files.ts';
export { type ContentsAtHand, directLookup, type ObjectLookup, objectLookup } from './kubelet/lookup.ts';
export {
  type PodWorkers,
  podAttacher,
  podCommandRunner,
  podLogSource,
  podPortConnector,
} from './kubelet/pod-access.ts';
export { PodWorker, type PodWorkerParts } from './kubelet/pod-worker.ts';
export { type ClaimedRange, claimLoopbackRange, type RangeSpec } from './loopback/claim.ts';
export { type LoopbackRange, loopbackRange, loopbackRangeOf } from './loopback/range.ts';
export { uninitializedTaint } from './names.ts';
export { resolveClusterName } from './network/cluster-names.ts';
export * from './network/cluster-services.ts';
export type { NodePorts } from './network/node-ports.ts';
export type { ServiceRoute } from './network/service-route.ts';
export { nodeConditions, type Readiness } from './node-conditions.ts';
export type { ChartSource, SimulatedKubernetesOptions } from './options.ts';
export { type OverNetworkOptions, overNetwork } from './over-network.ts';
export type { ProcessFiles, SimulatedProcess, SimulatedProgram } from './process.ts';
export { cloudEntryOf, confFlag, confText, parseCloudConf } from './programs/addons/cloud-conf.ts';
export { klogger } from './programs/addons/klogger.ts';
export { serviceAccountClient } from './programs/addons/service-account.ts';
export { simulatedProgram } from './programs/index.ts';
export { workerConfigName } from './programs/k0s/stacks.ts';
export { decodeJoinToken, encodeJoinToken } from './programs/k0s/token.ts';
export { kubectl } from './programs/kubectl.ts';
export { SimulatedKubernetes } from './programs/kubernetes.ts';
export { commandLineProblem } from './programs/static-pod-flags.ts';
export { normalPath, type ShellDisk, type ShellHost } from './shell/host.ts';
export { ShellPace } from './shell/limits.ts';
export { runScript, simulatedBinary } from './shell/run.ts';
export { freshState, pathIn, type ShellState, type Streams, type Tool } from './shell/state.ts';
export { flagsOf } from './shell/tools/files.ts';
export type { ApiCredentials, HttpAnswer, PortService, ReachableApi } from './types.ts';
