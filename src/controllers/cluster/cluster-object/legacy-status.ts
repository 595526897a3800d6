import type { Cluster } from '../../../api/index.ts';
import {
  isControlPlaneInitialized,
  isDeleting,
  isProvisioned,
  type LegacyVerdict,
  legacyConditionOf,
  legacyFalse,
  legacyTrue,
  mirrorLegacy,
  setLegacy,
  summarizeLegacy,
} from '../../shared/index.ts';
import type { ClusterObservation } from './status.ts';

/** The conditions clients of v1beta1 read. */
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
  }

  if (controlPlane.state === 'missing' && deleting) set('ControlPlaneReady', legacyFalse('Deleted', 'Info'));
  else if (controlPlane.state === 'found') {
    const ready = !deleting && isControlPlaneInitialized(controlPlane.provider);
    const waiting = deleting ? 'Deleting' : 'WaitingForControlPlane';
    set('ControlPlaneReady', mirrorLegacy(controlPlane.provider.object, ready, waiting));
  }

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
  set('Ready', summarizeLegacy(draft, { of: ['ControlPlaneReady', 'InfrastructureReady', 'TopologyReconciled'] }));
}
