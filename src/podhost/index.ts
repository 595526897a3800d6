// The door of the room that runs Pods of the embedded management API: node, scheduler, containers, Services, volumes.

export { createSimulatedBackend, type ProgramChooser, type SimulatedBackendOptions } from './simulated/backend.ts';
export { type PodHost, type PodHostOptions, startPodHost } from './start.ts';
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
} from './types.ts';
