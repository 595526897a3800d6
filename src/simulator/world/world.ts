/** What a new cloud has in it, as data. Everything is optional: an empty world is a cloud fresh from its installer. */
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
  /** 0: servers boot from volumes only */
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
  /** known beforehand when manifests name it */
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
  /** a network with a subnet and a router of the same name, made beforehand */
  readonly networks?: readonly WorldNetwork[];
}

export interface WorldNetwork {
  readonly name: string;
  readonly cidr: string;
  readonly dnsServers?: readonly string[];
  /** name of the external network its router leads to */
  readonly externalNetwork?: string;
}

export interface WorldUser {
  readonly name: string;
  /** absent: made up, and told in the credentials */
  readonly password?: string;
  readonly roles: readonly string[];
  readonly keyPairs?: readonly { readonly name: string; readonly publicKey: string }[];
  readonly applicationCredentials?: readonly string[];
}

/** How to get into the cloud, for those who seeded it. */
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
