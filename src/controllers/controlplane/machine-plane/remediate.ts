import type { Machine } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  dropCondition,
  dropLegacy,
  explain,
  fieldManager,
  isDeleting,
  isFalse,
  isToBeRemediated,
  isTrue,
  legacyFalse,
  setLegacy,
  setVerdict,
  type Verdict,
} from '../../shared/index.ts';
import { EtcdError } from '../etcd-client/types.ts';
import { pendingTopologyVersion } from './decisions/preflight.ts';
import {
  decideRemediation,
  formatRemediation,
  machineToRemediate,
  parseRemediation,
  type RemediationRecord,
} from './decisions/remediation.ts';
import { membersOf, moveLeadershipAway } from './etcd/operations.ts';
import { remediationForAnnotation, remediationInProgressAnnotation } from './names.ts';
import { deleteMachine } from './scale.ts';
import { type ControlPlaneScope, draftOf, isEtcdManaged, isInitialized, requeueAfter } from './scope.ts';

const ownerRemediated = 'OwnerRemediated';

/** Replaces machines that a health check found unhealthy, if the others can do without them. */
export async function remediate(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, provider, controlPlane } = scope;
  forgetRecovered(scope);
  forgetFinished(scope);
  const concerned = scope.machines.filter(isToBeRemediated);
  const underWay = parseRemediation(controlPlane.metadata.annotations?.[remediationInProgressAnnotation]);
  const machine =
    // an interrupted remediation is continued first
    concerned.find(({ metadata }) => metadata.name === underWay?.machine) ??
    machineToRemediate(concerned, { etcdManaged: isEtcdManaged(scope) });
  if (!machine || isDeleting(machine)) return undefined;
  if (underWay && underWay.machine !== machine.metadata.name) return undefined;
  const decision = decideRemediation({
    provider,
    controlPlane,
    machines: scope.machines,
    machine,
    health: scope.health,
    etcdManaged: isEtcdManaged(scope),
    members: membersOf(scope),
    initialized: isInitialized(controlPlane),
    pendingVersion: pendingTopologyVersion(scope.cluster, controlPlane),
    nowMs: context.clock.now(),
  });
  if (!decision.go) {
    tell(scope, machine, decision.verdict, 'WaitingForRemediation');
    if (decision.untilMs !== undefined) requeueAfter(scope, decision.untilMs - context.clock.now(), 'next remediation');
    return undefined;
  }
  if (isInitialized(controlPlane) && isEtcdManaged(scope)) {
    try {
      await moveLeadershipAway(scope, machine);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      const verdict: Verdict = { status: 'False', reason: 'CannotBeRemediated', message: explain(error) };
      tell(scope, machine, verdict, 'RemediationFailed');
      return undefined;
    }
  }
  await record(scope, underWay ?? decision.record);
  await deleteMachine(scope, machine);
  tell(
    scope,
    machine,
    { status: 'False', reason: 'MachineDeleting', message: 'Machine is deleting' },
    'RemediationInProgress',
  );
  context.events.event(
    controlPlane,
    'Normal',
    'RemediationStarted',
    `Deleted Machine "${machine.metadata.name}", which was found unhealthy`,
  );
  return after(0, 'a Machine is remediated');
}

function forgetRecovered(scope: ControlPlaneScope): void {
  for (const machine of scope.machines) {
    if (isDeleting(machine)) continue;
    if (!isTrue(machine, 'HealthCheckSucceeded') || !isFalse(machine, ownerRemediated)) continue;
    const draft = draftOf(scope, machine);
    dropCondition(draft, ownerRemediated);
    dropLegacy(draft, ownerRemediated);
  }
}

/** Removes the annotation once the replacement exists or is not needed. */
function forgetFinished({ controlPlane, machines }: ControlPlaneScope): void {
  const text = controlPlane.metadata.annotations?.[remediationInProgressAnnotation];
  if (text === undefined) return;
  const underWay = parseRemediation(text);
  const begun = parseRfc3339(underWay?.timestamp ?? '') ?? 0;
  const replaced = machines.some(
    ({ metadata }) =>
      metadata.annotations?.[remediationForAnnotation] === text ||
      (parseRfc3339(metadata.creationTimestamp ?? '') ?? 0) > begun,
  );
  const gone = !machines.some(({ metadata }) => metadata.name === underWay?.machine);
  const needless = gone && machines.length >= (controlPlane.spec.replicas ?? 1);
  if (underWay && !replaced && !needless) return;
  const { [remediationInProgressAnnotation]: _, ...annotations } = controlPlane.metadata.annotations ?? {};
  controlPlane.metadata.annotations = annotations;
}

/** Records the remediation before the machine is deleted, so that the retry count survives a restart. */
async function record(
  { context, provider, controlPlane }: ControlPlaneScope,
  remediation: RemediationRecord,
): Promise<void> {
  const text = formatRemediation(remediation);
  if (controlPlane.metadata.annotations?.[remediationInProgressAnnotation] === text) return;
  const annotations = { [remediationInProgressAnnotation]: text };
  await context.client.patch(
    provider.resource,
    objectKey(controlPlane),
    'merge',
    { metadata: { annotations } },
    { fieldManager, signal: context.signal },
  );
  controlPlane.metadata.annotations = { ...controlPlane.metadata.annotations, ...annotations };
}

function tell(scope: ControlPlaneScope, machine: Machine, verdict: Verdict, legacyReason: string): void {
  const draft = draftOf(scope, machine);
  const now = scope.context.clock.now();
  setVerdict(draft, ownerRemediated, verdict, now);
  const severity = legacyReason === 'RemediationFailed' ? 'Error' : 'Warning';
  const message = legacyReason === 'RemediationInProgress' ? '' : verdict.message;
  setLegacy(draft, ownerRemediated, legacyFalse(legacyReason, severity, message), now);
}
