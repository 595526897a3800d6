import type { NodeCondition } from '../api/index.ts';
import { formatTime } from '../machinery/index.ts';

/** Ready state of a node, with a reason if it is not ready. */
export interface Readiness {
  readonly isReady: boolean;
  readonly reason: string;
}

/** Conditions of a kubelet without resource pressure. Unchanged conditions keep their time. */
export function nodeConditions(
  nowMs: number,
  readiness: Readiness,
  before: readonly NodeCondition[] = [],
): NodeCondition[] {
  const time = formatTime(nowMs);
  const make = (type: string, status: string, reason: string, message: string): NodeCondition => {
    const earlier = before.find((condition) => condition.type === type);
    const since = earlier?.status === status ? (earlier.lastTransitionTime ?? time) : time;
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: since };
  };
  return [
    make('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    make('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    make('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    readiness.isReady
      ? make('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : make('Ready', 'False', 'KubeletNotReady', readiness.reason),
  ];
}
