import { kubeadmControlPlanes } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { errorMessage } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  ClusterCertificateError,
  conditionOf,
  controlPlaneCertificatePlans,
  ensureClusterCertificates,
  findClusterCertificates,
  isTrue,
  legacyFalse,
  legacyTrue,
  ownerReference,
  setLegacy,
  setVerdict,
  type Verdict,
} from '../../shared/index.ts';
import { type ControlPlaneScope, isInitialized } from './scope.ts';

/** Secrets may be deleted behind our back; nothing tells, so they are looked at once in a while. */
const lookAgainMs = 10 * 60_000;
/** Nor does anything tell that a user has brought what was missing. */
const missingMs = 15_000;

const available = 'CertificatesAvailable';

/**
 * Sees to the key pairs of the cluster. They are made once: machines that exist trust what they were given, so a pair that
 * went missing later is told, not made anew.
 */
export async function ensureCertificates(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, controlPlane, cluster, memory } = scope;
  const now = context.clock.now();
  const known = isTrue(controlPlane, available);
  scope.certificatesAvailable = known;
  if (known && memory.certificatesCheckedAt !== undefined && now - memory.certificatesCheckedAt < lookAgainMs) {
    return undefined;
  }
  const plans = controlPlaneCertificatePlans(controlPlane.spec.kubeadmConfigSpec?.clusterConfiguration);
  const access = { client: context.client, cluster: objectKey(cluster), plans, signal: context.signal };
  try {
    if (isInitialized(controlPlane)) {
      const found = await findClusterCertificates(access);
      const missing = plans.filter(({ purpose }) => !found.has(purpose)).map(({ purpose }) => purpose);
      if (missing.length > 0) {
        const many = missing.length > 1;
        const message = `Cluster certificate${many ? 's' : ''} for ${missing.join(', ')} ${many ? 'are' : 'is'} not available, please check cluster certificate secrets`;
        tell(scope, { status: 'False', reason: 'NotAvailable', message }, 'Error');
        return undefined;
      }
    }
    const owner = ownerReference(controlPlane, kubeadmControlPlanes, { controller: true });
    await ensureClusterCertificates({ ...access, clock: context.clock, owner });
    memory.certificatesCheckedAt = now;
    scope.certificatesAvailable = true;
    setVerdict(controlPlane, available, { status: 'True', reason: 'Available' }, now);
    setLegacy(controlPlane, available, legacyTrue, now);
    return undefined;
  } catch (error) {
    if (context.signal.aborted) throw error;
    const broken = error instanceof ClusterCertificateError;
    tell(
      scope,
      {
        status: broken ? 'False' : 'Unknown',
        reason: broken ? 'NotAvailable' : 'InternalError',
        message: errorMessage(error),
      },
      'Warning',
    );
    if (broken) return after(missingMs, errorMessage(error));
    throw error;
  }
}

function tell(scope: ControlPlaneScope, verdict: Verdict, severity: 'Error' | 'Warning'): void {
  const { controlPlane, context, memory } = scope;
  const now = context.clock.now();
  scope.certificatesAvailable = false;
  delete memory.certificatesCheckedAt;
  if (conditionOf(controlPlane, available)?.message !== verdict.message) {
    context.events.event(controlPlane, 'Warning', 'CertificatesNotAvailable', verdict.message ?? '');
  }
  setVerdict(controlPlane, available, verdict, now);
  setLegacy(controlPlane, available, legacyFalse('CertificatesGenerationFailed', severity, verdict.message), now);
}
