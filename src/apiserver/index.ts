// Public exports of the apiserver room: a Kubernetes API as a library.
export * from './admission/index.ts';
export type { AggregatedAnswer, AggregatedApi, Aggregation } from './aggregation.ts';
export * from './audit/index.ts';
export * from './auth/index.ts';
export { backupPath } from './http/backup-endpoint.ts';
export type { HealthCheck, VersionInfo } from './http/info-handler.ts';
export type { Acceptor, Listener } from './http/listener.ts';
export {
  type KubeletCaller,
  type KubeletEndpoint,
  type KubeletEndpointOptions,
  type KubeletPods,
  startKubeletEndpoint,
} from './kubelet/kubelet-endpoint.ts';
export { LocalClient, type WantsWhole } from './local-client.ts';
export { podRequests } from './pods/pod-resources.ts';
export { claimNames, configMapNames, secretNames } from './pods/pod-spec.ts';
export { type FollowableResources, followableResources, RegisteredResource } from './registry/index.ts';
export { ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
export { keyPrefix, objectKey } from './storage/keys.ts';
export { openObjectStore, type Sealer } from './storage/object-store.ts';
export { StoredObject } from './storage/stored-object.ts';
export type { PodConnector } from './subresources/pod-connect.ts';
export type { PodAttacher, PodCommand, PodExecutor, PodSession } from './subresources/pod-exec.ts';
export type { PodLogOptions, PodLogSource } from './subresources/pod-log.ts';
