import { createHash } from 'node:crypto';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../../../../api/index.ts';
import { formatTime } from '../../../../machinery/index.ts';

export interface PodPlace {
  readonly hostAddress: string;
  readonly podAddress: string;
}

/** Builds the status of a Pod with all containers running. */
export function runningStatus(pod: Pod, place: PodPlace, now: number): PodStatus {
  const time = formatTime(now);
  const startTime = pod.status?.startTime ?? time;
  return {
    phase: 'Running',
    conditions: podConditions(pod, time, { isReady: true }),
    hostIP: place.hostAddress,
    podIP: place.podAddress,
    podIPs: [{ ip: place.podAddress }],
    startTime,
    qosClass: pod.status?.qosClass ?? 'BestEffort',
    ...(pod.spec.initContainers && {
      initContainerStatuses: pod.spec.initContainers.map(({ name, image }) => {
        const status = containerStatus(pod, name, image ?? '');
        return {
          ...status,
          ready: true,
          started: false,
          state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: startTime, finishedAt: time } },
        };
      }),
    }),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      ...containerStatus(pod, name, image ?? ''),
      ready: true,
      started: true,
      state: { running: { startedAt: time } },
    })),
  };
}

/** Builds the status of a Pod that is not started yet. */
export function startingStatus(pod: Pod, hostAddress: string, now: number): PodStatus {
  const time = formatTime(now);
  return {
    phase: 'Pending',
    conditions: podConditions(pod, time, { isReady: false }),
    hostIP: hostAddress,
    startTime: pod.status?.startTime ?? time,
    qosClass: pod.status?.qosClass ?? 'BestEffort',
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image: image ?? '',
      imageID: '',
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: 'ContainerCreating' } },
    })),
  };
}

function containerStatus(pod: Pod, name: string, image: string): ContainerStatus {
  const id = createHash('sha256').update(`${pod.metadata.uid} ${name}`).digest('hex');
  const digest = createHash('sha256').update(image).digest('hex');
  return {
    name,
    image,
    imageID: `${image.replace(/:[^/:]*$/, '')}@sha256:${digest}`,
    containerID: `containerd://${id}`,
    ready: true,
    restartCount: 0,
  };
}

function podConditions(pod: Pod, time: string, { isReady }: { isReady: boolean }): PodCondition[] {
  const make = (type: string, isTrue: boolean): PodCondition => {
    const status = isTrue ? 'True' : 'False';
    const earlier = pod.status?.conditions?.find((condition) => condition.type === type);
    return {
      type,
      status,
      lastProbeTime: null,
      lastTransitionTime: earlier?.status === status ? (earlier.lastTransitionTime ?? time) : time,
      ...(!isTrue && { reason: 'ContainersNotReady', message: 'containers with unready status' }),
    };
  };
  return [
    make('PodReadyToStartContainers', isReady),
    make('Initialized', isReady || (pod.spec.initContainers?.length ?? 0) === 0),
    make('Ready', isReady),
    make('ContainersReady', isReady),
    make('PodScheduled', true),
  ];
}
