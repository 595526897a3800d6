import type { CommonFilter, NetworkResource } from '../common.ts';

export interface FixedIp {
  readonly subnetId: string;
  readonly address: string;
}

/** Additional addresses a port may use as source. */
export interface AddressPair {
  readonly address: string;
  readonly macAddress?: string | undefined;
}

export interface Port extends NetworkResource {
  readonly networkId: string;
  /** `ACTIVE`, `DOWN`, `BUILD`, `ERROR` */
  readonly status: string;
  readonly adminStateUp: boolean;
  readonly macAddress: string;
  readonly fixedIps: readonly FixedIp[];
  /** empty when unused */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly securityGroupIds: readonly string[];
  readonly allowedAddressPairs: readonly AddressPair[];
  readonly portSecurityEnabled: boolean;
  readonly vnicType: string | undefined;
  /** for administrators only */
  readonly hostId: string | undefined;
  readonly profile: Readonly<Record<string, unknown>>;
  readonly dnsName: string;
  /** trunk of which this port is the parent */
  readonly trunkId: string | undefined;
}

export interface PortChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  /** a subnet, an address, or both */
  readonly fixedIps?:
    | readonly { readonly subnetId?: string | undefined; readonly address?: string | undefined }[]
    | undefined;
  readonly securityGroupIds?: readonly string[] | undefined;
  readonly allowedAddressPairs?: readonly AddressPair[] | undefined;
  readonly portSecurityEnabled?: boolean | undefined;
  readonly deviceId?: string | undefined;
  readonly deviceOwner?: string | undefined;
  readonly macAddress?: string | undefined;
  readonly vnicType?: string | undefined;
  /** for administrators only */
  readonly hostId?: string | undefined;
  /** for administrators only on most clouds */
  readonly profile?: Readonly<Record<string, unknown>> | undefined;
  readonly dnsName?: string | undefined;
  readonly propagateUplinkStatus?: boolean | undefined;
  /** attributes of extensions, by neutron's names; the value specs of a port */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

export interface PortSpec extends PortChanges {
  readonly networkId: string;
}

export interface PortFilter extends CommonFilter {
  readonly networkId?: string | readonly string[] | undefined;
  readonly deviceId?: string | readonly string[] | undefined;
  readonly deviceOwner?: string | readonly string[] | undefined;
  readonly macAddress?: string | undefined;
  readonly status?: string | undefined;
  readonly securityGroups?: string | undefined;
  readonly fixedIp?: { readonly address?: string | undefined; readonly subnetId?: string | undefined } | undefined;
}
