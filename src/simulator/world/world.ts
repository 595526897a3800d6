/** Initial contents of a cloud, as data. Everything is optional. An empty world is a newly installed cloud. */
export interface World {
  readonly hosts?: readonly WorldHost[];
  readonly flavors?: readonly WorldFlavor[];
  readonly images?: readonly WorldImage[];
  readonly volumeTypes?: readonly string[];
  readonly externalNetworks?: readonly WorldExternalNetwork[];
  readonly projects?: readonly WorldProject[];
  /** flavors of load balancers */
  readonly loadBalancerFlavors?: readonly string[];
}

export interface WorldHost {
  readonly name: string;
  readonly zone: string;
  readonly vcpus: number;
  readonly ramMiB: number;
  readonly diskGiB: number;
}

export interface WorldFlavor {
  readonly name: string;
  readonly vcpus: number;
  readonly ramMiB: number;
  /** 0: servers boot only from volumes */
  readonly diskGiB: number;
}

export interface WorldImage {
  readonly name: string;
  readonly tags?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly minDiskGiB?: number;
}

export interface WorldExternalNetwork {
  readonly name: string;
  /** fixed id, for manifests that refer to it */
  readonly id?: string;
  readonly cidr: string;
  readonly gateway: string;
  readonly pool: { readonly start: string; readonly end: string };
}

export interface WorldProject {
  readonly name: string;
  readonly users: readonly WorldUser[];
  readonly quotas?: {
    readonly compute?: Readonly<Record<string, number>>;
    readonly network?: Readonly<Record<string, number>>;
    readonly volume?: Readonly<Record<string, number>>;
  };
  /** existing networks, each with a subnet and a router of the same name */
  readonly networks?: readonly WorldNetwork[];
}

export interface WorldNetwork {
  readonly name: string;
  readonly cidr: string;
  readonly dnsServers?: readonly string[];
  /** external network of its router */
  readonly externalNetwork?: string;
}

export interface WorldUser {
  readonly name: string;
  /** default: generated, and returned in the credentials */
  readonly password?: string;
  readonly roles: readonly string[];
  readonly keyPairs?: readonly { readonly name: string; readonly publicKey: string }[];
  readonly applicationCredentials?: readonly string[];
}

/** Credentials returned to the caller that seeded the cloud. */
export interface WorldCredentials {
  readonly users: readonly {
    readonly name: string;
    readonly id: string;
    readonly password: string;
    readonly project: string;
    readonly projectId: string;
  }[];
  readonly applicationCredentials: readonly {
    readonly name: string;
    readonly id: string;
    readonly secret: string;
    readonly user: string;
    readonly project: string;
  }[];
}
