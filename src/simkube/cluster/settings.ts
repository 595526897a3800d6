import type { CertificateAndKey } from '../../pki/index.ts';

/** Settings of an API server. Those of one cluster may differ for a while, during an upgrade or a rotation. */
export interface ClusterSettings {
  /** PEM of the authorities for client certificates */
  readonly clientAuthorities: string;
  /** PEM of the key that signs service account tokens */
  readonly serviceAccountKey: string;
  /** PEM of further keys for verifying tokens */
  readonly olderServiceAccountKeys?: readonly string[];
  readonly kubernetesVersion: string;
  readonly serviceCidr: string;
  readonly serviceAccountIssuer: string;
  /** default RBAC */
  readonly authorization?: 'RBAC' | 'AlwaysAllow';
  /** limits kubelets to reading objects of their own node (`Node`); default true */
  readonly nodeAuthorization?: boolean;
  /** limits kubelets to writing objects of their own node (`NodeRestriction`); default true */
  readonly nodeRestriction?: boolean;
  /** default true */
  readonly anonymous?: boolean;
  /** default true */
  readonly bootstrapTokens?: boolean;
}

/** Settings of a controller manager. */
export interface ControllerManagerSettings {
  /** signs kubelet certificates; absent: nobody signs them */
  readonly signingAuthority?: CertificateAndKey;
  /** PEM of the CA certificates published to Pods; absent: none */
  readonly rootAuthorities?: string;
}

/** Components one machine or Pod runs besides the API servers of a cluster. */
export interface ControllerRoles {
  readonly manager?: ControllerManagerSettings;
  readonly scheduler?: boolean;
}
