import type { Pool } from './addressing/pools.ts';
import type { StandardRow, TaggedRow } from './resource.ts';

// Columns have their names on the wire. Every column is present from the start, and nested values are replaced, never
// mutated.

export interface NetworkRow extends TaggedRow {
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly mtu: number;
  readonly shared: boolean;
  readonly 'router:external': boolean;
  readonly is_default: boolean;
  readonly port_security_enabled: boolean;
  readonly dns_domain: string;
  readonly availability_zone_hints: readonly string[];
  readonly 'provider:network_type': string;
  readonly 'provider:physical_network': string | null;
  readonly 'provider:segmentation_id': number | null;
  /** absent in data of earlier versions */
  readonly qos_policy_id?: string | null;
}

/** Resource types that can be shared with other projects. */
export type SharedType = 'network' | 'security_group' | 'qos_policy' | 'subnetpool' | 'address_scope' | 'address_group';

/** Grants a project (`*`: all projects) the use of another project's resource. */
export interface SharingRow extends StandardRow {
  readonly object_type: SharedType;
  readonly object_id: string;
  readonly target_tenant: string;
  readonly action: 'access_as_shared';
}

export interface SubnetPoolRow extends TaggedRow {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly ip_version: 4 | 6;
  readonly default_quota: number | null;
  readonly default_prefixlen: number;
  readonly min_prefixlen: number;
  readonly max_prefixlen: number;
  readonly is_default: boolean;
  readonly address_scope_id: string | null;
}

export interface AddressScopeRow extends StandardRow {
  readonly name: string;
  readonly ip_version: 4 | 6;
}

export interface AddressGroupRow extends StandardRow {
  readonly name: string;
  readonly addresses: readonly string[];
}

export interface QosPolicyRow extends TaggedRow {
  readonly name: string;
  readonly is_default: boolean;
}

export interface QosRuleRow extends StandardRow {
  readonly qos_policy_id: string;
  /** for example `bandwidth_limit` */
  readonly type: string;
  /** attributes of the type, for example `max_kbps` or `direction` */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface SubnetRow extends TaggedRow {
  readonly name: string;
  readonly network_id: string;
  readonly ip_version: 4 | 6;
  readonly cidr: string;
  readonly gateway_ip: string | null;
  readonly enable_dhcp: boolean;
  readonly allocation_pools: readonly Pool[];
  readonly dns_nameservers: readonly string[];
  readonly host_routes: readonly HostRoute[];
  readonly ipv6_ra_mode: string | null;
  readonly ipv6_address_mode: string | null;
  readonly service_types: readonly string[];
  /** absent in data of earlier versions */
  readonly subnetpool_id?: string | null;
}

export interface FixedIp {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export interface AddressPair {
  readonly mac_address: string;
  readonly ip_address: string;
}

export interface PortRow extends TaggedRow {
  readonly name: string;
  readonly network_id: string;
  readonly admin_state_up: boolean;
  readonly mac_address: string;
  readonly fixed_ips: readonly FixedIp[];
  readonly device_id: string;
  readonly device_owner: string;
  readonly status: string;
  readonly allowed_address_pairs: readonly AddressPair[];
  readonly extra_dhcp_opts: readonly object[];
  readonly security_groups: readonly string[];
  readonly port_security_enabled: boolean;
  readonly 'binding:vnic_type': string;
  readonly 'binding:host_id': string;
  readonly 'binding:profile': Readonly<Record<string, unknown>>;
  readonly dns_name: string;
  readonly dns_domain: string;
  /** absent in data of earlier versions */
  readonly qos_policy_id?: string | null;
  readonly numa_affinity_policy?: string | null;
}

export interface RouterRow extends TaggedRow {
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  /** port on the external network; null without a gateway */
  readonly gateway_port_id: string | null;
  readonly enable_snat: boolean;
  /** policy of the gateway; absent in data of earlier versions */
  readonly qos_policy_id?: string | null;
  readonly routes: readonly HostRoute[];
  readonly availability_zone_hints: readonly string[];
  readonly ha: boolean;
  readonly distributed: boolean;
}

export interface SecurityGroupRow extends TaggedRow {
  readonly name: string;
  readonly stateful: boolean;
  readonly is_default: boolean;
}

export interface SecurityGroupRuleRow extends StandardRow {
  readonly security_group_id: string;
  readonly direction: 'ingress' | 'egress';
  readonly ethertype: 'IPv4' | 'IPv6';
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly remote_group_id: string | null;
  readonly remote_address_group_id: string | null;
}

export interface FloatingIpRow extends TaggedRow {
  readonly floating_ip_address: string;
  readonly floating_network_id: string;
  /** port that reserves the address on the external network */
  readonly own_port_id: string;
  /** absent in data of earlier versions */
  readonly qos_policy_id?: string | null;
  readonly port_id: string | null;
  readonly fixed_ip_address: string | null;
  readonly router_id: string | null;
  readonly status: string;
  readonly dns_name: string;
  readonly dns_domain: string;
}

/** Forwards a port of a floating IP to a port of a machine. */
export interface PortForwardingRow extends StandardRow {
  readonly floatingip_id: string;
  readonly protocol: string;
  /** `first:last`, both equal for a single port */
  readonly external_port_range: string;
  readonly internal_port_id: string;
  readonly internal_ip_address: string;
  readonly internal_port_range: string;
}

export interface SubPort {
  readonly segmentation_id: number;
  readonly segmentation_type: string;
  readonly port_id: string;
}

export interface TrunkRow extends TaggedRow {
  readonly name: string;
  readonly port_id: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly sub_ports: readonly SubPort[];
}
