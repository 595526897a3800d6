import type { Cluster } from '../../../api/index.ts';
import {
  conditionOf,
  isControlPlaneInitialized,
  isDeleting,
  isProvisioned,
  type LegacyVerdict,
  legacyConditionOf,
  legacyFalse,
  legacyTrue,
  mirrorLegacy,
  type Severity,
  setLegacy,
  summarizeLegacy,
} from '../../shared/index.ts';
import type { ClusterObservation } from './status.ts';

/** Sets the deprecated v1beta1 conditions. */
export function observeLegacyCluster(draft: Cluster, seen: ClusterObservation): void {
  const set = (type: string, verdict: LegacyVerdict | undefined): void => {
    if (verdict) setLegacy(draft, type, verdict, seen.nowMs);
  };
  const deleting = isDeleting(draft);
  const { infrastructure, controlPlane } = seen;

  if (infrastructure.state === 'none' && !deleting && !draft.spec.topology) set('InfrastructureReady', legacyTrue);
  else if (infrastructure.state === 'missing' && deleting) set('InfrastructureReady', legacyFalse('Deleted', 'Info'));
  else if (infrastructure.state === 'found') {
    const ready = !deleting && isProvisioned(infrastructure.provider);
    const waiting = deleting ? 'Deleting' : 'WaitingForInfrastructure';
    set('InfrastructureReady', mirrorLegacy(infrastructure.provider.object, ready, waiting));
  } else set('InfrastructureReady', absence(draft, 'InfrastructureReady', draft.spec.infrastructureRef?.kind));

  if (controlPlane.state === 'missing' && deleting) set('ControlPlaneReady', legacyFalse('Deleted', 'Info'));
  else if (controlPlane.state === 'found') {
    const ready = !deleting && isControlPlaneInitialized(controlPlane.provider);
    const waiting = deleting ? 'Deleting' : 'WaitingForControlPlane';
    set('ControlPlaneReady', mirrorLegacy(controlPlane.provider.object, ready, waiting));
  } else set('ControlPlaneReady', absence(draft, 'ControlPlaneAvailable', draft.spec.controlPlaneRef?.kind));

  if (legacyConditionOf(draft, 'ControlPlaneInitialized')?.status !== 'True') {
    const initialized = draft.status?.initialization?.controlPlaneInitialized === true;
    const waiting = draft.spec.controlPlaneRef
      ? legacyFalse(
          'WaitingForControlPlaneProviderInitialized',
          'Info',
          'Waiting for control plane provider to indicate the control plane has been initialized',
        )
      : legacyFalse(
          'MissingNodeRef',
          'Info',
          'Waiting for the first control plane machine to have its status.nodeRef set',
        );
    if (initialized) set('ControlPlaneInitialized', legacyTrue);
    else if (controlPlane.state === 'found' || (controlPlane.state === 'none' && !deleting)) {
      set('ControlPlaneInitialized', waiting);
    }
  }
  set('WorkersReady', workersVerdict(seen));
  set('TopologyReconciled', fromModern(draft, 'TopologyReconciled', 'Error'));
  set(
    'Ready',
    summarizeLegacy(draft, { of: ['ControlPlaneReady', 'InfrastructureReady', 'TopologyReconciled', 'WorkersReady'] }),
  );
}

/** Copies the v1beta2 condition of an object that is missing or cannot be read. */
function absence(draft: Cluster, type: string, kind: string | undefined): LegacyVerdict | undefined {
  return kind === undefined || isDeleting(draft) ? undefined : fromModern(draft, type, 'Error');
}

/** Derives a v1beta1 condition from a v1beta2 condition. */
function fromModern(draft: Cluster, type: string, severity: Severity): LegacyVerdict | undefined {
  const condition = conditionOf(draft, type);
  if (!condition) return undefined;
  const { status, reason, message } = condition;
  if (status === 'True') return legacyTrue;
  return { status, reason, message, ...(status === 'False' && { severity }) };
}

/**
 * Returns the condition of the first MachineDeployment that is not as desired. Upstream has no v1beta1 condition for
 * workers.
 */
function workersVerdict({ descendants }: ClusterObservation): LegacyVerdict | undefined {
  for (const wanted of ['False', 'Unknown'] as const) {
    for (const deployment of descendants.deployments) {
      const ready = legacyConditionOf(deployment, 'Ready');
      if (ready?.status !== wanted) continue;
      const reason = `${ready.reason ?? 'NotReady'} @ MachineDeployment/${deployment.metadata.name}`;
      const { severity = 'Info', message = '' } = ready;
      return wanted === 'False'
        ? legacyFalse(reason, severity as Severity, message)
        : { status: 'Unknown', reason, message };
    }
  }
  return descendants.deployments.length > 0 ? legacyTrue : undefined;
}
