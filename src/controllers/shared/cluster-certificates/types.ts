import type { Secret } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';
import type { CertificatePlan, CertificatePurpose } from './plan.ts';

/** A pair of keys of a workload cluster, as its Secret holds it. */
export interface ClusterCertificate {
  plan: CertificatePlan;
  /** PEM, possibly several certificates; the public key for `sa` */
  certificate: string;
  /** PEM; absent where only the user has it */
  privateKey?: string;
  secret: Secret;
}

/** The pairs that were found or made, by purpose and in the order of their plans. */
export type ClusterCertificates = ReadonlyMap<CertificatePurpose, ClusterCertificate>;

/** A Secret with a certificate is missing or cannot be used; the message names it and says what to do. */
export class ClusterCertificateError extends CapstanError {
  readonly secret: ObjectKey;
  readonly missing: boolean;

  constructor(secret: ObjectKey, problem: string, options: { missing: boolean; hint: string; cause?: unknown }) {
    super('CAP_CLUSTER_CERTIFICATE', `Secret ${secret.namespace ?? ''}/${secret.name} ${problem}; ${options.hint}`, {
      hint: options.hint,
      ...(options.cause !== undefined && { cause: options.cause }),
    });
    this.name = 'ClusterCertificateError';
    this.secret = secret;
    this.missing = options.missing;
  }
}
