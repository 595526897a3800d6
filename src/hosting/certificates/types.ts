import type { KeyAlgorithm } from '../../pki/index.ts';
import type { AuthorityName, BundlePlace, CredentialName, SecretPlace } from '../naming/types.ts';
import type { ExternalAuthority, Labels } from '../spec.ts';

/** All credentials of a plane, in creation order. */
export type CertificatePlan = readonly PlannedCredential[];

export type PlannedCredential = PlannedAuthority | PlannedKey | PlannedCertificate | PlannedKubeconfig;

interface Planned {
  readonly name: CredentialName;
  readonly place: SecretPlace;
  /** labels of the Secret */
  readonly labels: Labels;
  readonly annotations?: Labels;
  /** user-supplied: read, but never created or changed */
  readonly external: boolean;
}

export interface PlannedAuthority extends Planned {
  readonly kind: 'authority';
  readonly name: AuthorityName;
  readonly commonName: string;
  readonly durationMs: number;
  /** how long before expiry a rotation starts by itself */
  readonly renewBeforeMs: number;
  readonly algorithm: KeyAlgorithm;
  /** second Secret with a copy of the trust */
  readonly repeatedIn?: BundlePlace;
}

/** Service account key pair: no certificate, no expiry. */
export interface PlannedKey extends Planned {
  readonly kind: 'key';
  readonly name: 'sa';
  readonly algorithm: KeyAlgorithm;
}

interface PlannedLeaf extends Planned {
  readonly signer: AuthorityName | ExternalAuthority;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly durationMs: number;
  readonly renewBeforeMs: number;
  readonly algorithm: KeyAlgorithm;
}

export interface PlannedCertificate extends PlannedLeaf {
  readonly kind: 'certificate';
  /** DNS names and IP addresses, sorted and deduplicated */
  readonly hosts: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  /** further keys of the Secret that receive the signer's trust */
  readonly trustKeys: readonly string[];
}

/** A kubeconfig with a client certificate. */
export interface PlannedKubeconfig extends PlannedLeaf {
  readonly kind: 'kubeconfig';
  /** https:// URL from outside */
  readonly server: string;
  /** https:// URL inside the management cluster */
  readonly internalServer: string;
  readonly clusterEntry: string;
  readonly userEntry: string;
  readonly contextEntry: string;
}

/** A credential parsed from its Secret. */
export interface ObservedCredential {
  /** milliseconds since the epoch */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly hosts: readonly string[];
  /** signed by the current CA */
  readonly signedByCurrent: boolean;
  /** contains every trusted certificate; only for credentials that include trust */
  readonly trustsAll: boolean;
  /** only for kubeconfigs */
  readonly server?: string;
  readonly internalServer?: string;
}

export type RenewalReason =
  | 'missing'
  | 'expiring'
  /** required names or addresses were added */
  | 'hosts'
  | 'subject'
  /** its CA was replaced */
  | 'signer'
  /** contains outdated trust */
  | 'trust'
  | 'server';

export interface Renewal {
  readonly credential: PlannedCredential;
  readonly reason: RenewalReason;
}
