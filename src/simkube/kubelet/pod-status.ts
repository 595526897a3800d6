import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../../api/index.ts';
import { formatTime } from '../../machinery/index.ts';

/** The host's view of a Pod it runs. */
export interface PodView {
  readonly nodeAddress: string;
  /** undefined without a sandbox */
  readonly podAddress: string | undefined;
  readonly isPrepared: boolean;
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
  /** all init containers have finished, and all sidecars among them have started */
  readonly isInitialized: boolean;
  readonly incompleteInit: readonly string[];
  /** names of sidecars, which count for readiness like main containers */
  readonly sidecars: ReadonlySet<string>;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly reason?: string;
  readonly message?: string;
}

const own: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

/** Builds the status as a kubelet does. Keeps conditions of others, and times of unchanged conditions. */
export function podStatus(pod: Pod, view: PodView, nowMs: number): PodStatus {
  const before = pod.status ?? {};
  const time = formatTime(nowMs);
  const { podAddress } = view;
  const { podIP: _podIp, podIPs: _podIps, reason: _reason, message: _message, ...kept } = before;
  return {
    ...kept,
    observedGeneration: pod.metadata.generation ?? 1,
    phase: view.phase,
    ...(view.reason !== undefined && { reason: view.reason }),
    ...(view.message !== undefined && { message: view.message }),
    conditions: conditionsOf(pod, view, time),
    hostIP: view.nodeAddress,
    hostIPs: [{ ip: view.nodeAddress }],
    ...(podAddress !== undefined && { podIP: podAddress, podIPs: [{ ip: podAddress }] }),
    startTime: before.startTime ?? time,
    ...(view.init.length > 0 && { initContainerStatuses: [...view.init] }),
    containerStatuses: [...view.main],
  } as PodStatus;
}

function conditionsOf(pod: Pod, view: PodView, time: string): PodCondition[] {
  const before = pod.status?.conditions ?? [];
  const make = (type: string, problem: { reason?: string; message?: string } | undefined): PodCondition => {
    const status = problem ? 'False' : 'True';
    const earlier = before.find((condition) => condition.type === type);
    return {
      type,
      status,
      observedGeneration: pod.metadata.generation ?? 1,
      lastTransitionTime: earlier?.status === status ? (earlier.lastTransitionTime ?? time) : time,
      ...problem,
    };
  };
  const isOver = view.phase === 'Succeeded' || view.phase === 'Failed';
  const unready = isOver ? { reason: view.phase === 'Failed' ? 'PodFailed' : 'PodCompleted' } : unreadyContainers(view);
  return [
    make('PodReadyToStartContainers', view.isPrepared && !isOver ? undefined : {}),
    make(
      'Initialized',
      view.isInitialized
        ? undefined
        : {
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: [${view.incompleteInit.join(' ')}]`,
          },
    ),
    make('Ready', unready ?? closedGates(pod)),
    make('ContainersReady', unready),
    make('PodScheduled', undefined),
    ...before.filter(({ type }) => !own.has(type)),
  ];
}

function unreadyContainers({ main, init, sidecars }: PodView): { reason: string; message: string } | undefined {
  const counted = [...init.filter(({ name }) => sidecars.has(name)), ...main];
  const names = counted.filter(({ ready }) => !ready).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'ContainersNotReady', message: `containers with unready status: [${names.join(' ')}]` };
}

/** Returns the readiness gates that are not satisfied. */
function closedGates(pod: Pod): { reason: string; message: string } | undefined {
  const messages: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (condition?.status === 'True') continue;
    messages.push(
      condition
        ? `the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`
        : `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
    );
  }
  return messages.length === 0 ? undefined : { reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
