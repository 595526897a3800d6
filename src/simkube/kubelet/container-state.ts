import { createHash } from 'node:crypto';
import type { ContainerState, ContainerStatus } from '../../api/index.ts';
import { formatTime, parseRfc3339 } from '../../machinery/index.ts';
import type { ContainerExit, RunningContainer } from '../containers/types.ts';

/** Where a container stands. */
export type State =
  | {
      readonly kind: 'waiting';
      readonly reason?: string;
      readonly message?: string;
      /** not tried again before; for ever: not before something changes */
      readonly until?: number;
    }
  /** `before`: why it waited until now, shown until it is known whether that is over */
  | { readonly kind: 'starting'; readonly before?: { readonly reason: string; readonly message?: string } }
  | { readonly kind: 'running'; readonly startedAt: number; readonly container: RunningContainer }
  | Ended;

export interface Ended {
  readonly kind: 'ended';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly exit: ContainerExit;
  readonly id: string;
  /** absent: it ran before the host was started */
  readonly container?: RunningContainer;
}

/** A state as a kubelet writes it; `idle` is the reason while nothing has been tried yet. */
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

/** How the last run of a container ended, from what a former host of it wrote; undefined: it never ran. */
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

/** Images of a simulation have no content; their name stands for it. */
export function imageId(image: string): string {
  if (image.includes('@')) return image;
  return `${image.replace(/:[^/:]*$/, '')}@sha256:${createHash('sha256').update(image).digest('hex')}`;
}
