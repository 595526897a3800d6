import type { CertificateAndKey } from '../../pki/index.ts';

/** What an API server is started with. Those of one cluster may differ for a while: in an upgrade, in a rotation. */
export interface ClusterSettings {
  /** PEM of the authorities whose client certificates it believes */
  readonly clientAuthorities: string;
  /** PEM of the key that signs tokens of service accounts */
  readonly serviceAccountKey: string;
  /** PEM of further keys whose tokens it believes */
  readonly olderServiceAccountKeys?: readonly string[];
  readonly kubernetesVersion: string;
  readonly serviceCidr: string;
  readonly serviceAccountIssuer: string;
  /** default RBAC */
  readonly authorization?: 'RBAC' | 'AlwaysAllow';
  /** lets kubelets see what concerns their own node and nothing else (`Node`); default true */
  readonly nodeAuthorization?: boolean;
  /** lets kubelets write what concerns their own node and nothing else (`NodeRestriction`); default true */
  readonly nodeRestriction?: boolean;
  /** default true */
  readonly anonymous?: boolean;
  /** default true */
  readonly bootstrapTokens?: boolean;
}

/** What a controller manager is started with. */
export interface ControllerManagerSettings {
  /** signs the certificates of kubelets; absent: nobody does */
  readonly signingAuthority?: CertificateAndKey;
  /** PEM of what Pods are told to trust; absent: they are told nothing */
  readonly rootAuthorities?: string;
}

/** What one machine, or one Pod, runs beside the API servers of a cluster. */
export interface ControllerRoles {
  readonly manager?: ControllerManagerSettings;
  readonly scheduler?: boolean;
}
