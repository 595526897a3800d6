import { Secrets } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { errorMessage } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  ClusterCertificateError,
  certificateSecretKey,
  conditionOf,
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
import { putBackCertificates } from './put-back-certificates.ts';
import { type ControlPlaneScope, isInitialized } from './scope.ts';

/** Interval of content checks. Deletions are noticed through events. */
const recheckMs = 10 * 60_000;
/** Poll interval for missing user-supplied Secrets, which are not watched. */
const missingMs = 15_000;

const available = 'CertificatesAvailable';

/**
 * Ensures the certificate Secrets of the cluster. They are created once: existing machines trust the original CA, so a
 * lost Secret is restored or reported, never replaced.
 */
export async function ensureCertificates(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, provider, controlPlane, cluster, memory } = scope;
  const now = context.clock.now();
  const known = isTrue(controlPlane, available);
  scope.certificatesAvailable = known;
  const plans = provider.certificatePlans(controlPlane);
  const isFresh = memory.certificatesCheckedAt !== undefined && now - memory.certificatesCheckedAt < recheckMs;
  const secrets = context.cache.lister(Secrets);
  if (isFresh && plans.every((plan) => secrets.get(certificateSecretKey(objectKey(cluster), plan)))) {
    // the status of the last check may not be written yet
    tellAvailable(scope);
    return undefined;
  }
  const access = { client: context.client, cluster: objectKey(cluster), plans, signal: context.signal };
  try {
    if (isInitialized(controlPlane)) {
      const found = await findClusterCertificates(access);
      const gone = plans.filter(({ purpose }) => !found.has(purpose));
      const missing = (await putBackCertificates(scope, gone)).map(({ purpose }) => purpose);
      if (missing.length > 0) {
        const many = missing.length > 1;
        const message = `Cluster certificate${many ? 's' : ''} for ${missing.join(', ')} ${many ? 'are' : 'is'} not available, please check cluster certificate secrets; what was deleted has to be put back from a backup`;
        tell(scope, { status: 'False', reason: 'NotAvailable', message }, 'Error');
        return undefined;
      }
    }
    const owner = ownerReference(controlPlane, provider.resource, { controller: true });
    // a Secret lost since the check above triggers another reconcile
    const existingOnly = isInitialized(controlPlane);
    await ensureClusterCertificates({ ...access, clock: context.clock, owner, existingOnly });
    memory.certificatesCheckedAt = now;
    tellAvailable(scope);
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

function tellAvailable(scope: ControlPlaneScope): void {
  const { controlPlane, context } = scope;
  const now = context.clock.now();
  scope.certificatesAvailable = true;
  setVerdict(controlPlane, available, { status: 'True', reason: 'Available' }, now);
  setLegacy(controlPlane, available, legacyTrue, now);
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
