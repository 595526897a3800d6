import type {
  Cluster,
  KamajiControlPlane,
  KamajiControlPlaneStatus,
  TenantControlPlane,
  TenantControlPlanePhase,
} from '../../../../api/index.ts';
import { conditionOf, isTrue, setVerdict, type Verdict, versionAcceptedCondition } from '../../../shared/index.ts';
import { copyConditions, setNotDeleting } from '../../plane-conditions.ts';
import { dataStoreCondition, readyCondition } from '../tenant/status.ts';

export interface Surroundings {
  readonly cluster: Cluster;
  /** kubeconfig and CA exist under the names of the Cluster API contract */
  readonly hasSecrets: boolean;
}

/** Phases in which the API answers; during a CA rotation the old and new CA are both trusted. */
const workingPhases: ReadonlySet<TenantControlPlanePhase> = new Set([
  'Ready',
  'Upgrading',
  'CertificateAuthorityRotating',
]);

/** Conditions copied to the object that users write. */
const shownConditions: readonly string[] = [versionAcceptedCondition, 'ArgumentsAccepted', 'CloudCredentialsAvailable'];

/** Writes the state of the TenantControlPlane to the status of a KamajiControlPlane. */
export function observeControlPlane(
  draft: KamajiControlPlane,
  tenant: TenantControlPlane,
  { cluster, hasSecrets }: Surroundings,
  nowMs: number,
): void {
  const { deployment, version } = tenant.status?.kubernetesResources ?? {};
  const isFunctional = isTrue(tenant, 'Functional');
  const isReady = hasSecrets && version?.status !== undefined && workingPhases.has(version.status);
  const wasInitialized = draft.status?.initialization?.controlPlaneInitialized === true;
  // until RBAC is set up in the cluster, the kubeconfig has no permissions
  const isInitialized = wasInitialized || (isFunctional && hasSecrets && isTrue(tenant, 'AddonsAvailable'));
  const status: KamajiControlPlaneStatus = {
    ...draft.status,
    ready: isReady,
    version: version?.version ?? draft.status?.version ?? '',
    externalManagedControlPlane: true,
    replicas: deployment?.replicas ?? 0,
    readyReplicas: deployment?.readyReplicas ?? 0,
    availableReplicas: deployment?.availableReplicas ?? 0,
    upToDateReplicas: deployment?.updatedReplicas ?? 0,
    ...(deployment && { selector: deployment.selector }),
    ...(isInitialized && { initialization: { controlPlaneInitialized: true } }),
  };
  delete status.failureReason;
  delete status.failureMessage;
  draft.status = status;
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  const obstacle = obstacleOf(tenant);
  set('TenantControlPlaneCreated', { status: 'True', reason: 'TenantControlPlaneCreated' });
  set(
    'TenantControlPlaneAddressReady',
    tenant.status?.controlPlaneEndpoint
      ? { status: 'True', reason: 'TenantControlPlaneAddressReady' }
      : mirrored(tenant, 'Exposed', obstacle),
  );
  set(
    'ControlPlaneEndpointPatched',
    draft.spec.controlPlaneEndpoint?.host
      ? { status: 'True', reason: 'ControlPlaneEndpointPatched' }
      : mirrored(tenant, 'Exposed', obstacle),
  );
  set('InfrastructureClusterPatched', infrastructureVerdict(tenant, cluster, obstacle));
  set(
    'KamajiControlPlaneIsInitialized',
    isInitialized ? { status: 'True', reason: 'KamajiControlPlaneIsInitialized' } : obstacle,
  );
  set(
    'KubeadmResourcesCreated',
    hasSecrets
      ? { status: 'True', reason: 'KubeadmResourcesCreated' }
      : mirrored(tenant, 'KubeconfigAvailable', obstacle),
  );
  // available, but not in the desired state
  const message = conditionOf(tenant, readyCondition)?.message ?? '';
  const whole: Verdict = isReady
    ? { status: 'True', reason: 'KamajiControlPlaneIsReady', message }
    : notReady(tenant, obstacle);
  set('KamajiControlPlaneIsReady', whole);
  set('Available', isReady ? { status: 'True', reason: 'Available', message } : whole);
  copyConditions(draft, tenant, shownConditions, nowMs);
  setNotDeleting(draft, nowMs);
}

/** Reports an invalid spec; existing objects stay unchanged. */
export function refuseControlPlane(draft: KamajiControlPlane, reason: string, message: string, nowMs: number): void {
  const verdict: Verdict = { status: 'False', reason, message };
  setVerdict(draft, 'TenantControlPlaneCreated', verdict, nowMs);
  setVerdict(draft, 'Available', verdict, nowMs);
}

/** Returns what the TenantControlPlane waits for. */
function obstacleOf(tenant: TenantControlPlane): Verdict {
  const store = conditionOf(tenant, dataStoreCondition);
  const found = store?.status === 'False' ? store : conditionOf(tenant, readyCondition);
  if (!found || found.status === 'True') {
    return { status: 'False', reason: 'Waiting', message: 'the TenantControlPlane has not been looked at yet' };
  }
  return { status: 'False', reason: found.reason, message: found.message };
}

function mirrored(tenant: TenantControlPlane, type: string, obstacle: Verdict): Verdict {
  const found = conditionOf(tenant, type);
  if (!found || found.status === 'True') return obstacle;
  return { status: 'False', reason: found.reason, message: found.message };
}

function infrastructureVerdict(tenant: TenantControlPlane, cluster: Cluster, obstacle: Verdict): Verdict {
  const published = conditionOf(tenant, 'EndpointPublished');
  if (published?.status === 'True' || cluster.spec.controlPlaneEndpoint?.host) {
    return { status: 'True', reason: 'InfrastructureClusterPatched' };
  }
  return mirrored(tenant, 'EndpointPublished', obstacle);
}

function notReady(tenant: TenantControlPlane, obstacle: Verdict): Verdict {
  const phase = tenant.status?.kubernetesResources?.version?.status;
  if (phase === 'Sleeping') {
    return {
      status: 'False',
      reason: 'Sleeping',
      message: 'the control plane has no replicas; set replicas to start it again',
    };
  }
  return obstacle;
}
