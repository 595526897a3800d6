import { must } from '../../machinery/index.ts';
import type { Core } from '../core/core.ts';
import type { Table } from '../core/state/table.ts';
import { AddressBook } from './address-book.ts';
import type {
  AddressGroupRow,
  AddressScopeRow,
  FloatingIpRow,
  NetworkRow,
  PortForwardingRow,
  PortRow,
  QosPolicyRow,
  QosRuleRow,
  RouterRow,
  SecurityGroupRow,
  SecurityGroupRuleRow,
  SharingRow,
  SubnetPoolRow,
  SubnetRow,
  TrunkRow,
} from './rows.ts';

export interface NetworkTables {
  readonly networks: Table<NetworkRow>;
  readonly subnets: Table<SubnetRow>;
  readonly ports: Table<PortRow>;
  readonly routers: Table<RouterRow>;
  readonly securityGroups: Table<SecurityGroupRow>;
  readonly securityGroupRules: Table<SecurityGroupRuleRow>;
  readonly floatingIps: Table<FloatingIpRow>;
  readonly trunks: Table<TrunkRow>;
  readonly sharings: Table<SharingRow>;
  readonly subnetPools: Table<SubnetPoolRow>;
  readonly addressScopes: Table<AddressScopeRow>;
  readonly addressGroups: Table<AddressGroupRow>;
  readonly qosPolicies: Table<QosPolicyRow>;
  readonly qosRules: Table<QosRuleRow>;
  readonly portForwardings: Table<PortForwardingRow>;
  readonly addresses: AddressBook;
}

export function createTables({ state, random }: Pick<Core, 'state' | 'random'>): NetworkTables {
  const addresses = new AddressBook(random);
  const ports = state.table<PortRow>('network.ports', {
    indexes: {
      project: { of: ['tenant_id'], key: (port) => port.tenant_id },
      network: { of: ['network_id'], key: (port) => port.network_id },
      device: { of: ['device_id'], key: (port) => port.device_id || undefined },
      name: { of: ['name'], key: (port) => port.name.toLowerCase() || undefined },
      subnet: { of: ['fixed_ips'], key: (port) => subnetsOf(port) },
      address: { of: ['fixed_ips'], key: (port) => addressKeys(port) },
      mac: { of: ['network_id', 'mac_address'], key: (port) => macKey(port.network_id, port.mac_address) },
      group: { of: ['security_groups'], key: (port) => port.security_groups },
    },
    derived: { ...addresses.ofPorts, of: ['fixed_ips'] },
  });
  addresses.follow(ports);
  return {
    addresses,
    ports,
    networks: state.table<NetworkRow>('network.networks', {
      indexes: {
        project: (network) => network.tenant_id,
        open: (network) => (network.shared || network['router:external'] ? 'yes' : undefined),
      },
    }),
    subnets: state.table<SubnetRow>('network.subnets', {
      indexes: {
        project: (subnet) => subnet.tenant_id,
        network: (subnet) => subnet.network_id,
        pool: (subnet) => subnet.subnetpool_id ?? undefined,
      },
      derived: addresses.ofSubnets,
    }),
    routers: state.table<RouterRow>('network.routers', {
      indexes: { project: (router) => router.tenant_id, gateway: (router) => router.gateway_port_id ?? undefined },
    }),
    securityGroups: state.table<SecurityGroupRow>('network.security_groups', {
      indexes: {
        project: (group) => group.tenant_id,
        default: (group) => (group.is_default ? group.tenant_id : undefined),
      },
    }),
    securityGroupRules: state.table<SecurityGroupRuleRow>('network.security_group_rules', {
      indexes: {
        project: (rule) => rule.tenant_id,
        group: (rule) => rule.security_group_id,
        remote: (rule) => rule.remote_group_id ?? undefined,
        addressGroup: (rule) => rule.remote_address_group_id ?? undefined,
      },
    }),
    floatingIps: state.table<FloatingIpRow>('network.floating_ips', {
      indexes: {
        project: (floating) => floating.tenant_id,
        port: (floating) => floating.port_id ?? undefined,
        router: (floating) => floating.router_id ?? undefined,
        address: (floating) => floating.floating_ip_address,
        own: (floating) => floating.own_port_id,
      },
    }),
    sharings: state.table<SharingRow>('network.rbac_policies', {
      indexes: {
        project: (sharing) => sharing.tenant_id,
        object: (sharing) => sharing.object_id,
        target: (sharing) => sharing.target_tenant,
        grant: (sharing) => sharingKey(sharing.object_id, sharing.target_tenant),
      },
    }),
    subnetPools: state.table<SubnetPoolRow>('network.subnetpools', {
      indexes: { project: (pool) => pool.tenant_id, scope: (pool) => pool.address_scope_id ?? undefined },
    }),
    addressScopes: state.table<AddressScopeRow>('network.address_scopes', {
      indexes: { project: (scope) => scope.tenant_id },
    }),
    addressGroups: state.table<AddressGroupRow>('network.address_groups', {
      indexes: { project: (group) => group.tenant_id },
    }),
    qosPolicies: state.table<QosPolicyRow>('network.qos_policies', {
      indexes: { project: (policy) => policy.tenant_id },
    }),
    qosRules: state.table<QosRuleRow>('network.qos_rules', { indexes: { policy: (rule) => rule.qos_policy_id } }),
    portForwardings: state.table<PortForwardingRow>('network.port_forwardings', {
      indexes: { floatingIp: (row) => row.floatingip_id, port: (row) => row.internal_port_id },
    }),
    trunks: state.table<TrunkRow>('network.trunks', {
      indexes: {
        project: (trunk) => trunk.tenant_id,
        parent: (trunk) => trunk.port_id,
        child: (trunk) => trunk.sub_ports.map(({ port_id }) => port_id),
      },
    }),
  };
}

export function addressKey(subnetId: string, address: string): string {
  return `${subnetId} ${address}`;
}

export function sharingKey(objectId: string, projectId: string): string {
  return `${objectId} ${projectId}`;
}

export function macKey(networkId: string, mac: string): string {
  return `${networkId} ${mac.toLowerCase()}`;
}

function addressKeys({ fixed_ips }: PortRow): readonly string[] | string {
  const [first] = fixed_ips;
  if (first && fixed_ips.length === 1) return addressKey(first.subnet_id, first.ip_address);
  return fixed_ips.map(({ subnet_id, ip_address }) => addressKey(subnet_id, ip_address));
}

function subnetsOf({ fixed_ips }: PortRow): readonly string[] | string | undefined {
  if (fixed_ips.length === 1) return must(fixed_ips[0], 'the first of fixed_ips').subnet_id;
  return [...new Set(fixed_ips.map(({ subnet_id }) => subnet_id))];
}
