import { createHash } from 'node:crypto';
import type { ContainerState, ContainerStatus } from '../../api/index.ts';
import { formatTime, parseRfc3339 } from '../../machinery/index.ts';
import type { ContainerExit, RunningContainer } from '../containers/types.ts';

/** State of a container. */
export type State =
  | {
      readonly kind: 'waiting';
      readonly reason?: string;
      readonly message?: string;
      /** earliest retry; infinite: only after a change */
      readonly until?: number;
    }
  /** `before`: the reason it waited until now, shown until it is clear whether it still applies */
  | { readonly kind: 'starting'; readonly before?: { readonly reason: string; readonly message?: string } }
  | { readonly kind: 'running'; readonly startedAt: number; readonly container: RunningContainer }
  | Ended;

export interface Ended {
  readonly kind: 'ended';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly exit: ContainerExit;
  readonly id: string;
  /** absent: it ran before the host restarted */
  readonly container?: RunningContainer;
}

/** Formats a state as a kubelet does. `idle` is the reason while nothing has been tried yet. */
export function shownState(state: State, idle: string): ContainerState {
  switch (state.kind) {
    case 'running':
      return { running: { startedAt: formatTime(state.startedAt) } };
    case 'ended':
      return { terminated: shownEnd(state) };
    case 'starting':
      return { waiting: state.before ?? { reason: idle } };
    default:
      return {
        waiting: { reason: state.reason ?? idle, ...(state.message !== undefined && { message: state.message }) },
      };
  }
}

export function shownEnd({ startedAt, endedAt, exit, id }: Ended): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: exit.exitCode,
    ...(exit.signal !== undefined && { signal: exit.signal }),
    reason: exit.reason,
    ...(exit.message !== undefined && { message: exit.message }),
    startedAt: formatTime(startedAt),
    finishedAt: formatTime(endedAt),
    containerID: id,
  };
}

/** Returns how the last run of a container ended, from the status an earlier host wrote; undefined if it never ran. */
export function earlierEnd(earlier: ContainerStatus, isRestarted: boolean, nowMs: number): Ended | undefined {
  const { running, terminated = earlier.lastState?.terminated } = earlier.state ?? {};
  if (running) {
    return {
      kind: 'ended',
      startedAt: parseRfc3339(running.startedAt ?? '') ?? nowMs,
      endedAt: nowMs,
      exit: isRestarted ? lostWithHost : lostForGood,
      id: earlier.containerID ?? '',
    };
  }
  if (!terminated) return undefined;
  return {
    kind: 'ended',
    startedAt: parseRfc3339(terminated.startedAt ?? '') ?? nowMs,
    endedAt: parseRfc3339(terminated.finishedAt ?? '') ?? nowMs,
    exit: {
      exitCode: terminated.exitCode,
      reason: terminated.reason ?? '',
      ...(terminated.message !== undefined && { message: terminated.message }),
    },
    id: terminated.containerID ?? '',
  };
}

const lostWithHost: ContainerExit = { exitCode: 255, reason: 'Unknown' };
const lostForGood: ContainerExit = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

/** Simulated images have no content, so the name serves as id. */
export function imageId(image: string): string {
  if (image.includes('@')) return image;
  return `${image.replace(/:[^/:]*$/, '')}@sha256:${createHash('sha256').update(image).digest('hex')}`;
}
