import { type Secret, Secrets } from '../../../api/index.ts';
import { type Client, type ObjectKey, objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  asJson,
  type Clock,
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  type OwnerReference,
} from '../../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, createServiceAccountKeyPair } from '../../../pki/index.ts';
import { clusterSecretType } from '../names.ts';
import { controllerOf, withOwner } from '../ownership.ts';
import { fieldManager } from '../write-object.ts';
import type { CertificatePlan, CertificatePurpose } from './plan.ts';
import { certificateFromSecret, certificateSecret, certificateSecretKey } from './secret.ts';
import { type ClusterCertificate, ClusterCertificateError, type ClusterCertificates } from './types.ts';

/** Reads a Secret from a cache; a missing one is then requested from the API. */
export type ReadSecret = (key: ObjectKey) => Secret | undefined;

export interface CertificateAccess {
  client: Client;
  /** key of the Cluster */
  cluster: ObjectKey;
  plans: readonly CertificatePlan[];
  cached?: ReadSecret;
  signal?: AbortSignal;
}

export interface EnsureCertificatesOptions extends CertificateAccess {
  clock: Clock;
  /** controller owner reference of Secrets created here */
  owner: OwnerReference;
  /** only use existing pairs and leave out missing ones, because machines trust the original ones */
  existingOnly?: boolean;
}

/** Finds existing pairs. Missing ones are left out, unless the user has to supply them; then it throws. */
export async function findClusterCertificates(access: CertificateAccess): Promise<ClusterCertificates> {
  const found = await Promise.all(access.plans.map((plan) => findCertificate(access, plan)));
  const certificates = new Map<CertificatePurpose, ClusterCertificate>();
  for (const certificate of found) {
    if (certificate) certificates.set(certificate.plan.purpose, certificate);
  }
  return certificates;
}

/** Returns the pairs of all plans; throws for the first missing one. */
export async function requireClusterCertificates(access: CertificateAccess): Promise<ClusterCertificates> {
  const certificates = await findClusterCertificates(access);
  for (const plan of access.plans) if (!certificates.has(plan.purpose)) throw missing(access, plan);
  return certificates;
}

/**
 * Ensures the pairs of all plans. Each is looked up first and stored under a fixed name, so that a crash or concurrent
 * callers still result in one pair. User-supplied pairs are never changed.
 */
export async function ensureClusterCertificates(options: EnsureCertificatesOptions): Promise<ClusterCertificates> {
  const found = await findClusterCertificates(options);
  const outcomes = await Promise.allSettled(
    options.plans
      .filter(({ purpose }) => options.existingOnly !== true || found.has(purpose))
      .map((plan) => {
        const existing = found.get(plan.purpose);
        return existing ? adopt(options, existing) : make(options, plan);
      }),
  );
  const certificates = new Map<CertificatePurpose, ClusterCertificate>();
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
    certificates.set(outcome.value.plan.purpose, outcome.value);
  }
  return certificates;
}

async function findCertificate(
  access: CertificateAccess,
  plan: CertificatePlan,
): Promise<ClusterCertificate | undefined> {
  const secret = await readSecret(access, certificateSecretKey(access.cluster, plan));
  if (secret) return certificateFromSecret(secret, plan);
  if (plan.external) throw missing(access, plan);
  return undefined;
}

async function readSecret({ client, cached, signal }: CertificateAccess, key: ObjectKey): Promise<Secret | undefined> {
  return cached?.(key) ?? (await client.get(Secrets, key, { ...(signal && { signal }) }).catch(ignoreNotFound));
}

function missing(access: CertificateAccess, plan: CertificatePlan): ClusterCertificateError {
  const hint = plan.external
    ? 'external etcd needs it: create it with tls.crt and tls.key'
    : 'it is made by the control plane of the cluster';
  return new ClusterCertificateError(certificateSecretKey(access.cluster, plan), 'does not exist', {
    missing: true,
    hint,
  });
}

const dayMs = 24 * 3_600_000;
const defaultValidityDays = 3650;

async function make(options: EnsureCertificatesOptions, plan: CertificatePlan): Promise<ClusterCertificate> {
  const { client, cluster, owner, signal } = options;
  const pair = await makePair(options, plan);
  const secret = certificateSecret(cluster, plan, pair, owner);
  try {
    const stored = await client.create(Secrets, secret, { fieldManager, ...(signal && { signal }) });
    return { plan, ...pair, secret: stored };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // created concurrently: the stored pair is the cluster's
    const stored = await client.get(Secrets, objectKey(secret), { ...(signal && { signal }) });
    return certificateFromSecret(stored, plan);
  }
}

async function makePair({ clock }: EnsureCertificatesOptions, plan: CertificatePlan): Promise<CertificateAndKey> {
  const { algorithm, validityDays = defaultValidityDays } = plan;
  if (plan.purpose === 'sa') {
    const { publicKey, privateKey } = await createServiceAccountKeyPair(algorithm);
    return { certificate: publicKey, privateKey };
  }
  return createAuthority({
    commonName: 'kubernetes',
    clock,
    algorithm,
    validityMs: validityDays * dayMs,
    pathLength: 0,
  });
}

/** Updates the owner reference of own pairs, which a restore can lose. User-supplied pairs stay unchanged. */
async function adopt(options: EnsureCertificatesOptions, found: ClusterCertificate): Promise<ClusterCertificate> {
  const { secret } = found;
  const { client, owner, signal } = options;
  if (found.plan.external || secret.type !== clusterSecretType) return found;
  const other = controllerOf(secret);
  if (other && (other.kind !== owner.kind || other.name !== owner.name)) return found;
  const owners = withOwner(secret.metadata.ownerReferences, owner);
  if (owners === secret.metadata.ownerReferences) return found;
  const patch = { metadata: { ownerReferences: asJson(owners) } };
  try {
    const stored = await client.patch(Secrets, objectKey(secret), 'merge', withOptimisticLock(patch, secret), {
      fieldManager,
      ...(signal && { signal }),
    });
    return { ...found, secret: stored };
  } catch (error) {
    // the next reconcile tries again
    if (isConflict(error)) return found;
    throw error;
  }
}
