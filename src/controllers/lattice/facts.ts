import type { CloudTexts } from '../shared/index.ts';

/** What a machine of an image still needs. */
export type ImageKind =
  /** official Ubuntu image: packages are installed first */
  | 'stock'
  /** contains container runtime and Kubernetes */
  | 'prepared';

/** Facts about the cloud that the expansion needs. */
export interface CloudFacts {
  readonly externalNetworkId: string;
  readonly image: ImageKind;
}

/** Inputs of an expansion besides the LatticeCluster. */
export interface LatticeFacts {
  readonly cloud: CloudFacts;
  /** content of the credentials Secret, base64 by key */
  readonly credentials: Readonly<Record<string, string>>;
  /** cloud configuration for components inside the cluster */
  readonly texts: CloudTexts;
  readonly addons: readonly { readonly name: string; readonly manifests: string }[];
}
