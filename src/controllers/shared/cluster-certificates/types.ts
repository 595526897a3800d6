import type { Secret } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';
import type { CertificatePlan, CertificatePurpose } from './plan.ts';

/** A key pair of a workload cluster as stored in its Secret. */
export interface ClusterCertificate {
  plan: CertificatePlan;
  /** PEM, possibly several certificates; the public key for `sa` */
  certificate: string;
  /** PEM; absent if only the user has it */
  privateKey?: string;
  secret: Secret;
}

/** Pairs by purpose, in plan order. */
export type ClusterCertificates = ReadonlyMap<CertificatePurpose, ClusterCertificate>;

/** A certificate Secret is missing or unusable; the message names it and the remedy. */
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
