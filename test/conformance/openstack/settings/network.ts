import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { type Layout, loopback } from '../layout.ts';
import { commonSections, credentialsOf, databaseUrl, messagesUrl } from './shared.ts';

/** Physical network of floating IPs. */
export const externalPhysicalNetwork = 'public';

/** Settings of neutron with ML2. Instead of agents, the mechanism driver in python/pretended binds the ports. */
export function networkSettings(layout: Layout): IniFile {
  return {
    DEFAULT: {
      bind_host: loopback,
      bind_port: layout.ports.network,
      state_path: join(layout.data, 'network'),
      api_paste_config: '/usr/share/neutron-common/api-paste.ini',
      core_plugin: 'ml2',
      service_plugins: 'router,trunk,qos,port_forwarding',
      transport_url: messagesUrl(layout),
      api_workers: 2,
      rpc_workers: 1,
      rpc_state_report_workers: 0,
      dhcp_agent_notification: false,
      allow_automatic_l3agent_failover: false,
      notify_nova_on_port_status_changes: true,
      notify_nova_on_port_data_changes: true,
      global_physnet_mtu: 1500,
      dns_domain: 'openstack.local.',
      max_allowed_address_pair: 100,
    },
    database: { connection: databaseUrl(layout, 'neutron') },
    nova: credentialsOf(layout, 'nova'),
    placement: credentialsOf(layout, 'placement'),
    quotas: {
      quota_network: 500,
      quota_subnet: 500,
      quota_port: 5000,
      quota_router: 500,
      quota_floatingip: 500,
      quota_security_group: 1000,
      quota_security_group_rule: 10_000,
      quota_trunk: 500,
    },
    ml2: {
      type_drivers: 'flat,vlan,vxlan,geneve',
      tenant_network_types: 'vxlan',
      // The second driver is never used, but trunks and QoS require a driver they know.
      mechanism_drivers: 'pretended,openvswitch',
      extension_drivers: 'port_security,qos,dns_domain_ports',
    },
    ml2_type_flat: { flat_networks: externalPhysicalNetwork },
    ml2_type_vlan: { network_vlan_ranges: 'physnet1:100:1000' },
    ml2_type_vxlan: { vni_ranges: '1:100000' },
    ml2_type_geneve: { vni_ranges: '1:100000' },
    securitygroup: { enable_security_group: true },
    ...commonSections(layout, 'neutron'),
  };
}
