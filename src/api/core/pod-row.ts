import { humanDuration, type JsonValue } from '../../machinery/index.ts';
import { age } from '../common/printing.ts';
import type { Container, ContainerState, ContainerStatus, Pod } from './pod-types.ts';

const none = '<none>';

function isSidecar(container: Container | undefined): boolean {
  return container?.restartPolicy === 'Always';
}

/** Returns the `Reason`, or the signal or exit code of the process if there is no reason. */
function terminationReason(terminated: NonNullable<ContainerState['terminated']>): string {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
}

/** Restart count of some containers and the end of the last restarted one. */
interface Restarts {
  count: number;
  lastMs: number;
}

function addRestarts(restarts: Restarts, status: ContainerStatus): void {
  restarts.count += status.restartCount ?? 0;
  const finished = status.lastState?.terminated?.finishedAt;
  if (finished) restarts.lastMs = Math.max(restarts.lastMs, Date.parse(finished));
}

interface InitProgress {
  /** status while init containers are running */
  reason: string | undefined;
  ready: number;
  restarts: Restarts;
  sidecarRestarts: Restarts;
}

function initProgress(pod: Pod): InitProgress {
  const specs = pod.spec.initContainers ?? [];
  const byName = new Map(specs.map((container) => [container.name, container]));
  const progress: InitProgress = {
    reason: undefined,
    ready: 0,
    restarts: { count: 0, lastMs: 0 },
    sidecarRestarts: { count: 0, lastMs: 0 },
  };
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    addRestarts(progress.restarts, status);
    const sidecar = isSidecar(byName.get(status.name));
    if (sidecar) addRestarts(progress.sidecarRestarts, status);
    const { terminated, waiting } = status.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecar && status.started) {
      if (status.ready) progress.ready++;
      continue;
    }
    if (terminated) progress.reason = `Init:${terminationReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') progress.reason = `Init:${waiting.reason}`;
    else progress.reason = `Init:${index}/${specs.length}`;
    break;
  }
  return progress;
}

function hasCondition(pod: Pod, type: string): boolean {
  return (pod.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

/** Builds the row of `kubectl get pods`, with a status derived from phase, conditions and container states. */
export function podRow(pod: Pod, nowMs: number): JsonValue[] {
  const status = pod.status ?? {};
  const phase = status.phase ?? '';
  let reason = status.reason || phase;
  for (const condition of status.conditions ?? []) {
    if (condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated') reason = 'SchedulingGated';
  }
  const init = initProgress(pod);
  const total = (pod.spec.containers ?? []).length + (pod.spec.initContainers ?? []).filter(isSidecar).length;
  let { ready, restarts } = init;
  if (init.reason !== undefined) reason = init.reason;
  if (init.reason === undefined || hasCondition(pod, 'Initialized')) {
    restarts = init.sidecarRestarts;
    let running = false;
    for (const container of [...(status.containerStatuses ?? [])].reverse()) {
      addRestarts(restarts, container);
      const state = container.state ?? {};
      if (state.waiting?.reason) reason = state.waiting.reason;
      else if (state.terminated) reason = terminationReason(state.terminated);
      else if (container.ready && state.running) {
        running = true;
        ready++;
      }
    }
    if (reason === 'Completed' && running) reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
  }
  if (pod.metadata.deletionTimestamp) {
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating';
  }
  const ago = restarts.count > 0 && restarts.lastMs > 0 ? ` (${humanDuration(nowMs - restarts.lastMs)} ago)` : '';
  return [
    pod.metadata.name ?? '',
    `${ready}/${total}`,
    reason,
    `${restarts.count}${ago}`,
    age(pod, nowMs),
    status.podIPs?.[0]?.ip || none,
    pod.spec.nodeName || none,
    status.nominatedNodeName || none,
    readinessGates(pod),
  ];
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return none;
  return `${gates.filter((gate) => hasCondition(pod, gate.conditionType)).length}/${gates.length}`;
}
