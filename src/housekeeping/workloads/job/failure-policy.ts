import type { Job, Pod, PodFailurePolicyRule } from '../../../api/index.ts';

/** Outcome of the pod failure policy for a failed Pod. */
export type FailureVerdict =
  | { readonly action: 'Count' | 'FailIndex' | 'Ignore' }
  | { readonly action: 'FailJob'; readonly message: string };

/** Applies the first rule that matches the failure. Without a match the failure counts. */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  const rules = job.spec.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const why = matchOf(rule, pod);
    if (why === undefined) continue;
    if (rule.action === 'Ignore' || rule.action === 'FailIndex') return { action: rule.action };
    if (rule.action !== 'FailJob') return { action: 'Count' };
    return { action: 'FailJob', message: `${why} matching FailJob rule at index ${index}` };
  }
  return { action: 'Count' };
}

/**
 * Returns the reason why a rule matches the Pod, in the wording of the Job's condition; undefined if it does not match.
 */
function matchOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata;
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const status of statuses) {
      const exitCode = status.state?.terminated?.exitCode;
      if (exitCode === undefined || exitCode === 0) continue;
      if (containerName !== undefined && containerName !== status.name) continue;
      if (values.includes(exitCode) !== (operator === 'In')) continue;
      return `Container ${status.name} for pod ${namespace}/${name} failed with exit code ${exitCode}`;
    }
    return undefined;
  }
  for (const pattern of onPodConditions ?? []) {
    const isMet = pod.status?.conditions?.some(
      ({ type, status }) => type === pattern.type && status === (pattern.status ?? 'True'),
    );
    if (isMet) return `Pod ${namespace}/${name} has condition ${pattern.type}`;
  }
  return undefined;
}
