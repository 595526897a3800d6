import type { CloudTexts } from '../shared/index.ts';

/** What a machine of an image still needs. */
export type ImageKind =
  /** Ubuntu as its makers publish it: packages are installed first */
  | 'stock'
  /** container runtime and Kubernetes are on it */
  | 'prepared';

/** What the cloud says, and what expanding a LatticeCluster needs to know. */
export interface CloudFacts {
  readonly externalNetworkId: string;
  readonly image: ImageKind;
}

/** Everything an expansion depends on besides the LatticeCluster itself. */
export interface LatticeFacts {
  readonly cloud: CloudFacts;
  /** content of the Secret with the credentials, base64 by key */
  readonly credentials: Readonly<Record<string, string>>;
  /** the same cloud for programs inside the cluster */
  readonly texts: CloudTexts;
  /** manifests of the add-ons, by name */
  readonly addons: readonly { readonly name: string; readonly manifests: string }[];
}
