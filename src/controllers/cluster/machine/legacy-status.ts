import type { Machine, Node } from '../../../api/index.ts';
import {
  conditionOf,
  isDataSecretCreated,
  isDeleting,
  isProvisioned,
  type LegacyVerdict,
  legacyFalse,
  legacyTrue,
  mirrorLegacy,
  setLegacy,
  summarizeLegacy,
} from '../../shared/index.ts';
import type { Referenced } from './scope.ts';
import type { MachineObservation } from './status.ts';

/** Sets the deprecated v1beta1 conditions. */
export function observeLegacyMachine(draft: Machine, seen: MachineObservation): void {
  const set = (type: string, verdict: LegacyVerdict | undefined): void => {
    if (verdict) setLegacy(draft, type, verdict, seen.nowMs);
  };
  const deleting = isDeleting(draft);
  const initialization = draft.status?.initialization;

  const { bootstrap, infrastructure } = seen;
  if (bootstrap.state === 'found') {
    const created = isDataSecretCreated(bootstrap.provider) || initialization?.bootstrapDataSecretCreated === true;
    set(
      'BootstrapReady',
      draft.spec.bootstrap.dataSecretName !== undefined && initialization?.bootstrapDataSecretCreated === true
        ? legacyTrue
        : mirrorLegacy(bootstrap.provider.object, created, deleting ? 'Deleting' : 'WaitingForDataSecret'),
    );
  } else if (bootstrap.state === 'none') set('BootstrapReady', legacyTrue);
  else set('BootstrapReady', absence(bootstrap, draft.spec.bootstrap.configRef?.kind ?? '', deleting));

  if (infrastructure.state === 'found') {
    const { provider } = infrastructure;
    const waiting = deleting ? 'Deleting' : 'WaitingForInfrastructure';
    set('InfrastructureReady', mirrorLegacy(provider.object, isProvisioned(provider), waiting));
  } else set('InfrastructureReady', absence(infrastructure, draft.spec.infrastructureRef.kind, deleting));

  set('NodeHealthy', nodeVerdict(draft, seen));
  if (deleting) deletionVerdicts(draft, seen, set);

  const counting = !deleting && draft.spec.providerID === undefined;
  set(
    'Ready',
    summarizeLegacy(draft, {
      of: [
        'InfrastructureReady',
        'BootstrapReady',
        'HealthCheckSucceeded',
        'OwnerRemediated',
        'DrainingSucceeded',
        // a machine without a healthy Node is not ready, even if its server is
        'NodeHealthy',
      ],
      ...(counting && { steps: ['BootstrapReady', 'InfrastructureReady'] }),
    }),
  );
  failures(draft, seen);
}

/** Condition for an object that is missing or cannot be read. */
function absence(referenced: Referenced, kind: string, deleting: boolean): LegacyVerdict | undefined {
  switch (referenced.state) {
    case 'missing':
      if (deleting) return legacyFalse('Deleted', 'Info');
      return legacyFalse('ObjectDoesNotExist', 'Error', `${kind} does not exist`);
    case 'failed':
      return { status: 'Unknown', reason: 'InternalError', message: referenced.problem };
    default:
      return undefined;
  }
}

function nodeVerdict(machine: Machine, seen: MachineObservation): LegacyVerdict | undefined {
  if (machine.spec.providerID === undefined) return legacyFalse('WaitingForNodeRef', 'Info');
  switch (seen.node.state) {
    case 'found': {
      const { infrastructure } = seen;
      const leaving = infrastructure.state !== 'found' || isDeleting(infrastructure.provider.object);
      return leaving ? legacyFalse('Deleting', 'Info') : conditionsVerdict(seen.node.node);
    }
    case 'missing':
      if (isDeleting(machine)) return undefined;
      return machine.status?.nodeRef
        ? legacyFalse('NodeNotFound', 'Error')
        : legacyFalse('NodeProvisioning', 'Warning', 'Waiting for a node with matching ProviderID to exist');
    case 'failed':
      return {
        status: 'Unknown',
        reason: 'NodeInspectionFailed',
        message: 'Failed to get the Node for this Machine by ProviderID',
      };
    default: {
      // the last known state is kept during the grace period, then becomes Unknown
      const known = conditionOf(machine, 'NodeHealthy');
      if (known?.status !== 'Unknown' || known.reason !== 'ConnectionDown') return undefined;
      return { status: 'Unknown', reason: known.reason, message: known.message };
    }
  }
}

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

function conditionsVerdict(node: Node): LegacyVerdict {
  let bad = 0;
  let unknown = 0;
  const texts: string[] = [];
  for (const { type, status } of node.status?.conditions ?? []) {
    const good = type === 'Ready' ? 'True' : pressures.includes(type) ? 'False' : undefined;
    if (good === undefined || status === good) continue;
    texts.push(`Node condition ${type} is ${status}`);
    if (status === 'Unknown') unknown++;
    else bad++;
  }
  const message = texts.join('. ');
  if (bad > 0) return legacyFalse('NodeConditionsFailed', 'Warning', message);
  return unknown === 0 ? legacyTrue : { status: 'Unknown', reason: 'NodeConditionsFailed', message };
}

/** Conditions of the deletion steps, in order; the steps before the current one have succeeded. */
function deletionVerdicts(
  machine: Machine,
  { deletion }: MachineObservation,
  set: (type: string, verdict: LegacyVerdict) => void,
): void {
  const reason = deletion?.reason;
  const { nodeDrainStartTime, waitForNodeVolumeDetachStartTime } = machine.status?.deletion ?? {};
  if (reason === 'WaitingForPreDrainHook') {
    set('PreDrainDeleteHookSucceeded', legacyFalse('WaitingExternalHook', 'Info'));
    return;
  }
  if (nodeDrainStartTime !== undefined) set('PreDrainDeleteHookSucceeded', legacyTrue);
  if (reason === 'DrainingNode') {
    const failed = deletion?.message.startsWith('Error') === true;
    set(
      'DrainingSucceeded',
      failed
        ? legacyFalse('DrainingFailed', 'Warning', deletion?.message)
        : legacyFalse('Draining', 'Info', 'Draining the node before deletion'),
    );
    return;
  }
  if (nodeDrainStartTime !== undefined) set('DrainingSucceeded', legacyTrue);
  if (reason === 'WaitingForVolumeDetach') {
    set(
      'VolumeDetachSucceeded',
      legacyFalse('WaitingForVolumeDetach', 'Info', 'Waiting for node volumes to be detached'),
    );
    return;
  }
  if (waitForNodeVolumeDetachStartTime !== undefined) set('VolumeDetachSucceeded', legacyTrue);
  set(
    'PreTerminateDeleteHookSucceeded',
    reason === 'WaitingForPreTerminateHook' ? legacyFalse('WaitingExternalHook', 'Info') : legacyTrue,
  );
}

/**
 * Sets failureReason for an infrastructure machine that disappeared, the only terminal failure in v1beta1; clears it
 * when the object returns.
 */
function failures(machine: Machine, { infrastructure }: MachineObservation): void {
  const provisioned = machine.status?.initialization?.infrastructureProvisioned === true;
  const { kind, name } = machine.spec.infrastructureRef;
  const { status } = machine;
  if (!status) return;
  const { failureReason: _, failureMessage: __, ...legacy } = status.deprecated?.v1beta1 ?? {};
  const gone = infrastructure.state === 'missing' && provisioned && !isDeleting(machine);
  if (!gone && status.deprecated?.v1beta1?.failureReason === undefined) return;
  machine.status = {
    ...status,
    deprecated: {
      v1beta1: {
        ...legacy,
        ...(gone && {
          failureReason: 'InvalidConfiguration',
          failureMessage: `Machine infrastructure resource ${kind} ${machine.metadata.namespace}/${name} has been deleted after provisioning was completed`,
        }),
      },
    },
  };
}
