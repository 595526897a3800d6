import type { Neutron } from '../neutron.ts';
import { refuse } from '../refusals.ts';
import type { FixedIp, PortRow, SubnetRow } from '../rows.ts';
import { macKey } from '../tables.ts';
import { ensureDefaultGroup } from './default-security-group.ts';
import { dropForwardings } from './forwarding-use.ts';
import { allocate, automaticAddress, type FixedIpSpec, isRouterOwner } from './port-addresses.ts';

/** Owners of ports that are deleted with their subnet or network. */
export const autoDeletedOwners: ReadonlySet<string> = new Set(['network:dhcp', 'network:distributed']);

/** A validated port to create. Absent fields get defaults. */
export interface PortSpec {
  readonly projectId: string;
  readonly networkId: string;
  readonly name?: string;
  readonly description?: string;
  readonly adminStateUp?: boolean;
  readonly deviceId?: string;
  readonly deviceOwner?: string;
  readonly macAddress?: string | undefined;
  readonly fixedIps?: readonly FixedIpSpec[] | undefined;
  /** default: the project's default group, if port security is on */
  readonly securityGroups?: readonly string[] | undefined;
  readonly portSecurityEnabled?: boolean | undefined;
  readonly allowedAddressPairs?: readonly { readonly ip_address: string; readonly mac_address?: string }[] | undefined;
  readonly host?: string;
  readonly status?: string;
  readonly tags?: readonly string[];
  readonly rest?: Partial<
    Pick<
      PortRow,
      | 'binding:vnic_type'
      | 'binding:profile'
      | 'dns_name'
      | 'dns_domain'
      | 'extra_dhcp_opts'
      | 'qos_policy_id'
      | 'numa_affinity_policy'
    >
  >;
}

/** Creates a port with addresses, a MAC and security groups. */
export function insertPort(neutron: Neutron, desired: PortSpec): Readonly<PortRow> {
  const network = neutron.networks.known(desired.networkId);
  const owner = desired.deviceOwner ?? '';
  const mac = chooseMac(neutron, desired.networkId, desired.macAddress);
  const isSecure = isService(owner) ? false : (desired.portSecurityEnabled ?? network.port_security_enabled);
  const groups = securityGroupsOf(neutron, desired, isSecure);
  const pairs = (desired.allowedAddressPairs ?? []).map((pair) => ({
    mac_address: pair.mac_address ?? mac,
    ip_address: pair.ip_address,
  }));
  const fixedIps = allocate(neutron, { networkId: network.id, mac, deviceOwner: owner }, desired.fixedIps);
  const { rest = {} } = desired;
  const now = neutron.core.now();
  // Written out for speed: ports are created by the thousand, and an object literal with spreads is several times
  // slower.
  return neutron.ports.insert({
    id: neutron.core.ids.uuid(),
    tenant_id: desired.projectId,
    description: desired.description ?? '',
    tags: desired.tags ?? [],
    revision_number: 1,
    created_at: now,
    updated_at: now,
    name: desired.name ?? '',
    network_id: network.id,
    admin_state_up: desired.adminStateUp ?? true,
    mac_address: mac,
    fixed_ips: fixedIps,
    device_id: desired.deviceId ?? '',
    device_owner: owner,
    status: desired.status ?? (desired.host ? 'ACTIVE' : 'DOWN'),
    allowed_address_pairs: pairs,
    extra_dhcp_opts: rest.extra_dhcp_opts ?? [],
    security_groups: groups,
    port_security_enabled: isSecure,
    'binding:vnic_type': rest['binding:vnic_type'] ?? 'normal',
    'binding:host_id': desired.host ?? '',
    'binding:profile': rest['binding:profile'] ?? {},
    dns_name: rest.dns_name ?? '',
    dns_domain: rest.dns_domain ?? '',
    qos_policy_id: rest.qos_policy_id ?? null,
    numa_affinity_policy: rest.numa_affinity_policy ?? null,
  });
}

/** Deletes a port even if it is in use, and disassociates its floating IPs. */
export function deletePort(neutron: Neutron, port: Readonly<PortRow>): void {
  for (const floating of [...neutron.floatingIps.by('port', port.id)]) {
    neutron.change(neutron.floatingIps, floating, { port_id: null, fixed_ip_address: null, router_id: null });
    neutron.settleFloatingIp(floating.id);
  }
  dropForwardings(neutron, port.id);
  neutron.ports.delete(port.id);
}

/** Removes the addresses of a subnet from a port. */
export function dropAddresses(neutron: Neutron, port: Readonly<PortRow>, subnetId: string): void {
  const rest = port.fixed_ips.filter(({ subnet_id }) => subnet_id !== subnetId);
  neutron.change(neutron.ports, port, { fixed_ips: rest });
}

/** Gives existing ports an address of a new automatic subnet. */
export function addAutomaticAddresses(neutron: Neutron, subnet: Readonly<SubnetRow>): void {
  for (const port of [...neutron.ports.by('network', subnet.network_id)]) {
    if (isRouterOwner(port.device_owner)) continue;
    const added: FixedIp = { subnet_id: subnet.id, ip_address: automaticAddress(subnet, port.mac_address) };
    neutron.change(neutron.ports, port, { fixed_ips: [...port.fixed_ips, added] });
  }
}

/** Reports whether a port belongs to the network service, which is trusted. */
export function isService(owner: string): boolean {
  return owner.startsWith('network:');
}

export function securityGroupsOf(
  neutron: Neutron,
  { projectId, deviceOwner = '', securityGroups }: Pick<PortSpec, 'projectId' | 'deviceOwner' | 'securityGroups'>,
  isSecure: boolean,
): readonly string[] {
  if (!isSecure) {
    if (securityGroups && securityGroups.length > 0 && !isService(deviceOwner)) {
      const message = 'Port security must be enabled and port must have an IP address in order to use security groups.';
      throw refuse(400, 'PortSecurityAndIPRequiredForSecurityGroups', message);
    }
    return [];
  }
  return securityGroups ?? [ensureDefaultGroup(neutron, projectId).id];
}

export function chooseMac(neutron: Neutron, networkId: string, wanted: string | undefined): string {
  if (wanted !== undefined) {
    if (neutron.ports.count('mac', macKey(networkId, wanted)) > 0) throw macInUse(networkId, wanted);
    return wanted;
  }
  for (;;) {
    const mac = neutron.core.ids.mac();
    if (neutron.ports.count('mac', macKey(networkId, mac)) === 0) return mac;
  }
}

export function macInUse(networkId: string, mac: string): Error {
  const message = `Unable to complete operation for network ${networkId}. The mac address ${mac} is in use.`;
  return refuse(409, 'MacAddressInUse', message);
}
