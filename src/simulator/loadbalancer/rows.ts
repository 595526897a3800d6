import type { Row } from '../core/state/table.ts';

export type ProvisioningStatus = 'PENDING_CREATE' | 'PENDING_UPDATE' | 'PENDING_DELETE' | 'ACTIVE' | 'ERROR';

// Columns have their names on the wire. Every column is present from the start, and nested values are replaced, never
// mutated.

/** Common columns of load balancers and their children. */
export interface PartRow extends Row {
  readonly project_id: string;
  readonly provisioning_status: ProvisioningStatus;
  readonly operating_status: string;
  readonly admin_state_up: boolean;
  readonly tags: readonly string[];
  /** milliseconds */
  readonly created_at: number;
  readonly updated_at: number | null;
}

export interface LoadBalancerRow extends PartRow {
  readonly name: string;
  readonly description: string;
  readonly vip_address: string;
  readonly vip_port_id: string;
  readonly vip_subnet_id: string;
  readonly vip_network_id: string;
  /** octavia created the port and deletes it */
  readonly owns_port: boolean;
  readonly security_group_id: string;
  readonly provider: string;
  readonly flavor_id: string | null;
  readonly availability_zone: string | null;
  /** absent in data of earlier versions */
  readonly additional_vips?: readonly AdditionalVip[];
  readonly vip_qos_policy_id?: string | null;
}

export interface AdditionalVip {
  readonly subnet_id: string;
  readonly ip_address: string;
}

export interface ListenerRow extends PartRow {
  readonly loadbalancer_id: string;
  readonly name: string;
  readonly description: string;
  readonly protocol: string;
  readonly protocol_port: number;
  readonly connection_limit: number;
  readonly default_pool_id: string | null;
  readonly default_tls_container_ref: string | null;
  readonly sni_container_refs: readonly string[];
  readonly insert_headers: Readonly<Record<string, string>>;
  readonly timeout_client_data: number;
  readonly timeout_member_connect: number;
  readonly timeout_member_data: number;
  readonly timeout_tcp_inspect: number;
  readonly client_ca_tls_container_ref: string | null;
  readonly client_authentication: string;
  readonly client_crl_container_ref: string | null;
  readonly allowed_cidrs: readonly string[] | null;
  readonly tls_ciphers: string | null;
  readonly tls_versions: readonly string[] | null;
  readonly alpn_protocols: readonly string[] | null;
}

export interface SessionPersistence {
  readonly type: string;
  readonly cookie_name: string | null;
  readonly persistence_timeout: number | null;
  readonly persistence_granularity: string | null;
}

export interface PoolRow extends PartRow {
  readonly loadbalancer_id: string;
  readonly name: string;
  readonly description: string;
  readonly protocol: string;
  readonly lb_algorithm: string;
  readonly session_persistence: SessionPersistence | null;
  readonly tls_enabled: boolean;
  readonly tls_container_ref: string | null;
  readonly ca_tls_container_ref: string | null;
  readonly crl_container_ref: string | null;
  readonly tls_ciphers: string | null;
  readonly tls_versions: readonly string[] | null;
  readonly alpn_protocols: readonly string[] | null;
}

export interface MemberRow extends PartRow {
  readonly pool_id: string;
  readonly name: string;
  readonly address: string;
  readonly protocol_port: number;
  readonly weight: number;
  readonly backup: boolean;
  readonly subnet_id: string | null;
  readonly monitor_address: string | null;
  readonly monitor_port: number | null;
}

export interface HealthMonitorRow extends PartRow {
  readonly pool_id: string;
  readonly name: string;
  readonly type: string;
  readonly delay: number;
  readonly timeout: number;
  readonly max_retries: number;
  readonly max_retries_down: number;
  readonly http_method: string | null;
  readonly url_path: string | null;
  readonly expected_codes: string | null;
  readonly http_version: number | null;
  readonly domain_name: string | null;
}

export interface L7PolicyRow extends PartRow {
  readonly listener_id: string;
  readonly name: string;
  readonly description: string;
  readonly action: string;
  readonly redirect_pool_id: string | null;
  readonly redirect_url: string | null;
  readonly redirect_prefix: string | null;
  readonly redirect_http_code: number | null;
  readonly position: number;
}

export interface L7RuleRow extends PartRow {
  readonly l7policy_id: string;
  readonly type: string;
  readonly compare_type: string;
  readonly key: string | null;
  readonly value: string;
  readonly invert: boolean;
}

/** A flavor or availability zone: a name for a profile, offered by an operator. */
export interface OfferRow extends Row {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly profile_id: string;
}

/** Settings for a provider. */
export interface ProfileRow extends Row {
  readonly name: string;
  readonly provider_name: string;
  /** JSON, as given by the operator */
  readonly data: string;
}
