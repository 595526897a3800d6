import { clusterNameLabel, type Machine, type MachineHealthCheck } from '../../../api/index.ts';
import { labelSelectorFromObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { conditionOf, legacyConditionOf, legacyFalse, setLegacy, setVerdict } from '../../shared/index.ts';

type Selector = Parameters<typeof labelSelectorFromObject>[0];

/** Tells whether a health check selects a machine. */
export function selects({ spec }: MachineHealthCheck, machine: Machine): boolean {
  const labels = { ...machine.metadata.labels, [clusterNameLabel]: machine.spec.clusterName };
  return (
    machine.spec.clusterName === spec.clusterName && labelSelectorFromObject(spec.selector as Selector).matches(labels)
  );
}

/**
 * Sets OwnerRemediated to ask the owner to replace an unhealthy machine. The owner answers in the same condition; an
 * answer is not overwritten.
 */
export function askOwner({ events }: Pick<ReconcileContext, 'events'>, draft: Machine, now: number): void {
  const asked = conditionOf(draft, 'OwnerRemediated');
  if (asked === undefined || asked.status === 'True') {
    const verdict = { status: 'False', reason: 'WaitingForRemediation', message: 'Waiting for remediation' } as const;
    setVerdict(draft, 'OwnerRemediated', verdict, now);
    events.event(
      draft,
      'Normal',
      'MachineMarkedUnhealthy',
      `Machine ${draft.metadata.name} has been marked as unhealthy`,
    );
  }
  const legacy = legacyConditionOf(draft, 'OwnerRemediated');
  if (legacy === undefined || legacy.status === 'True') {
    setLegacy(draft, 'OwnerRemediated', legacyFalse('WaitingForRemediation', 'Warning'), now);
  }
}
