import type { KeyAlgorithm } from '../../pki/index.ts';
import type { AuthorityName, BundlePlace, CredentialName, SecretPlace } from '../naming/types.ts';
import type { ExternalAuthority, Labels } from '../spec.ts';

/** Everything with a key in it that a plane needs, in the order it is to be made. */
export type CertificatePlan = readonly PlannedCredential[];

export type PlannedCredential = PlannedAuthority | PlannedKey | PlannedCertificate | PlannedKubeconfig;

interface Planned {
  readonly name: CredentialName;
  readonly place: SecretPlace;
  /** of the Secret */
  readonly labels: Labels;
  readonly annotations?: Labels;
  /** brought by a user: read, never made or changed */
  readonly external: boolean;
}

/** A self-signed certificate authority. */
export interface PlannedAuthority extends Planned {
  readonly kind: 'authority';
  readonly name: AuthorityName;
  readonly commonName: string;
  readonly durationMs: number;
  /** how long before its end a rotation begins by itself */
  readonly renewBeforeMs: number;
  readonly algorithm: KeyAlgorithm;
  /** a second Secret that repeats the trust */
  readonly repeatedIn?: BundlePlace;
}

/** The pair that signs service account tokens: no certificate, no end. */
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
  /** DNS names and IP addresses, sorted, each once */
  readonly hosts: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  /** keys of the Secret that also get the trust of the signer */
  readonly trustKeys: readonly string[];
}

/** A kubeconfig with a client certificate inside. */
export interface PlannedKubeconfig extends PlannedLeaf {
  readonly kind: 'kubeconfig';
  /** https:// address from outside */
  readonly server: string;
  /** https:// address inside the management cluster */
  readonly internalServer: string;
  readonly clusterEntry: string;
  readonly userEntry: string;
  readonly contextEntry: string;
}

/** A credential as its Secret holds it; parsed by whoever read it. */
export interface ObservedCredential {
  /** milliseconds since the epoch */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly hosts: readonly string[];
  /** the signer is the authority in use now */
  readonly signedByCurrent: boolean;
  /** every certificate of the trust is in it; only where trust is part of the credential */
  readonly trustsAll: boolean;
  /** of a kubeconfig */
  readonly server?: string;
  readonly internalServer?: string;
}

export type RenewalReason =
  | 'missing'
  | 'expiring'
  /** names or addresses it must be valid for were added */
  | 'hosts'
  | 'subject'
  /** its authority was replaced */
  | 'signer'
  /** the trust inside is not the one of today */
  | 'trust'
  | 'server';

export interface Renewal {
  readonly credential: PlannedCredential;
  readonly reason: RenewalReason;
}
