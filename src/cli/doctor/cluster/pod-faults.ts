import type { Pod } from '../../../api/index.ts';
import { argumentOf } from '../../describe/fields.ts';
import { failed, type Seen, warned } from '../findings.ts';

/** Lists why a Pod does not run and suggests fixes; empty if it runs. */
export function faultsOf(pod: Pod): Seen[] {
  const { name = '' } = pod.metadata;
  const argument = argumentOf(pod);
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, name: container, image, lastState } of statuses) {
    const waiting = state?.waiting;
    if (!waiting || waiting.reason === 'ContainerCreating' || waiting.reason === 'PodInitializing') continue;
    const words = waiting.message ?? lastState?.terminated?.message ?? '';
    return [
      failed(
        `Pod ${name}, container ${container}: ${waiting.reason}${words === '' ? '' : `: ${words}`}`,
        cureOfWaiting({ reason: waiting.reason, words, image, argument }),
      ),
    ];
  }
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (unscheduled) {
    return [
      failed(
        `Pod ${name} has no node: ${unscheduled.message ?? unscheduled.reason ?? ''}`,
        cureOfUnscheduled(unscheduled.message ?? '', argument),
      ),
    ];
  }
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' || pod.status?.phase === 'Succeeded') return [];
  return [
    warned(
      `Pod ${name} is not Ready: ${ready?.message ?? pod.status?.phase ?? 'Pending'}`,
      `kubectl logs ${argument}, kubectl describe pod ${argument}`,
    ),
  ];
}

interface Waiting {
  readonly reason: string | undefined;
  readonly words: string;
  readonly image: string | undefined;
  /** of kubectl */
  readonly argument: string;
}

function cureOfWaiting({ reason = '', words, image = '', argument }: Waiting): string {
  if (reason === 'InvalidImageName') {
    return `${image} is not an image name: use one tag, such as ghcr.io/k0sproject/k0s:v1.32.6-k0s.0, and leave version out`;
  }
  if (/429|toomanyrequests|rate limit/i.test(words)) {
    return 'the registry limits the number of requests: use another registry, such as ghcr.io, or set imagePullSecrets';
  }
  if (/ImagePull|ErrImage/.test(reason)) return 'correct the image, or give imagePullSecrets';
  if (reason === 'CrashLoopBackOff') return `kubectl logs ${argument} --previous shows why it ends`;
  return `kubectl describe pod ${argument} shows more`;
}

function cureOfUnscheduled(words: string, argument: string): string {
  if (/PersistentVolumeClaim|volume/i.test(words)) return 'its volume is missing: see the claims below';
  if (/Insufficient/.test(words)) return 'the management cluster has no room: add nodes to it';
  return `kubectl describe pod ${argument} shows more`;
}
