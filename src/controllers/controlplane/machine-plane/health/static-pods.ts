import type { Node, Pod } from '../../../../api/index.ts';
import { type LegacyVerdict, legacyFalse, legacyTrue, type Verdict } from '../../../shared/index.ts';

/** A verdict for v1beta2 and deprecated v1beta1 conditions. */
export interface TwoVerdicts {
  verdict: Verdict;
  /** absent where upstream sets no v1beta1 condition */
  legacy?: LegacyVerdict;
}

export const unknownLegacy = (reason: string, message: string): LegacyVerdict => ({
  status: 'Unknown',
  reason,
  message,
});

const provisioning = (message = ''): TwoVerdicts => ({
  verdict: { status: 'False', reason: 'Provisioning', message },
  legacy: legacyFalse('PodProvisioning', 'Info', message),
});
const failed = (message: string): TwoVerdicts => ({
  verdict: { status: 'False', reason: 'Failed', message },
  legacy: legacyFalse('PodFailed', 'Error', message),
});
export const notInspected = (message: string, legacyMessage: string = message): TwoVerdicts => ({
  verdict: { status: 'Unknown', reason: 'InspectionFailed', message },
  legacy: unknownLegacy('PodInspectionFailed', legacyMessage),
});
const running: TwoVerdicts = { verdict: { status: 'True', reason: 'Running' }, legacy: legacyTrue };

export const isReadyUnknown = ({ status }: Node): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown';

export const isUnreachable = ({ spec }: Node): boolean =>
  spec?.taints?.some(({ key, effect }) => key === 'node.kubernetes.io/unreachable' && effect === 'NoExecute') === true;

/** Judges a component by its static Pod. */
export function podVerdict(name: string, pod: Pod | undefined, node: Node): TwoVerdicts {
  // an unreachable kubelet does not update its Pods, so their status is stale
  if (isReadyUnknown(node)) return notInspected('Node Ready condition is Unknown, Pod data might be stale');
  if (!pod) {
    return {
      verdict: { status: 'False', reason: 'DoesNotExist', message: 'Pod does not exist' },
      legacy: legacyFalse('PodMissing', 'Error', `Pod ${name} is missing`),
    };
  }
  const holds = (type: string): boolean =>
    pod.status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
  switch (pod.status?.phase) {
    case 'Running':
      return holds('Ready') ? running : notReady(pod);
    case 'Succeeded':
    case 'Failed':
      return failed('All the containers have been terminated');
    case 'Unknown':
      return notInspected('Pod is reporting Unknown status');
    default:
      if (!holds('PodScheduled')) return provisioning('Waiting to be scheduled');
      return provisioning(holds('Initialized') ? '' : 'Running init containers');
  }
}

function notReady({ status }: Pod): TwoVerdicts {
  const containers = status?.containerStatuses ?? [];
  const waiting = containers.flatMap(({ state }) => (state?.waiting ? [state.waiting.reason ?? ''] : []));
  if (waiting.length > 0) {
    const crashed = containers.some(({ lastState }) => (lastState?.terminated?.exitCode ?? 0) !== 0);
    return crashed ? failed(waiting.join(', ')) : provisioning(waiting.join(', '));
  }
  const terminated = containers.flatMap(({ state }) => (state?.terminated ? [state.terminated.reason ?? ''] : []));
  if (terminated.length > 0) return failed(terminated.join(', '));
  return provisioning('Waiting for startup or readiness probes');
}
