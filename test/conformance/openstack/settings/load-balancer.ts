import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { baseUrl, type Layout, loopback } from '../layout.ts';
import { commonSections, credentialsOf, databaseUrl, messagesUrl } from './shared.ts';

/** Resources of other services that octavia needs to boot amphorae. */
export interface AmphoraResources {
  readonly flavor: string;
  readonly managementNetwork: string;
  readonly securityGroup: string;
  readonly imageOwner: string;
}

/** Returns the files of the CA that signs amphora certificates. */
export function amphoraAuthority(layout: Layout): { certificate: string; key: string; passphrase: string } {
  const directory = join(layout.data, 'amphora-authority');
  return { certificate: join(directory, 'ca.pem'), key: join(directory, 'ca.key'), passphrase: 'unprotected' };
}

/**
 * Settings of octavia. Amphorae are servers of the fake driver with real neutron ports. Only the agent inside them is
 * octavia's no-op driver, because a fake server cannot run it.
 */
export function loadBalancerSettings(layout: Layout, amphora: AmphoraResources | undefined): IniFile {
  const authority = amphoraAuthority(layout);
  return {
    DEFAULT: { transport_url: messagesUrl(layout) },
    api_settings: {
      bind_host: loopback,
      bind_port: layout.ports.loadBalancer,
      api_base_uri: baseUrl(layout, 'loadBalancer'),
      auth_strategy: 'keystone',
      enabled_provider_drivers: 'amphora:The Octavia Amphora driver,octavia:Alias of the amphora driver',
      default_provider_driver: 'amphora',
      allow_ping_health_monitors: true,
    },
    database: { connection: databaseUrl(layout, 'octavia') },
    oslo_messaging: { topic: 'octavia_prov' },
    health_manager: {
      bind_ip: loopback,
      bind_port: layout.ports.amphoraHeartbeats,
      heartbeat_key: layout.password,
      controller_ip_port_list: `${loopback}:${layout.ports.amphoraHeartbeats}`,
    },
    certificates: {
      cert_generator: 'local_cert_generator',
      cert_manager: 'local_cert_manager',
      ca_certificate: authority.certificate,
      ca_private_key: authority.key,
      ca_private_key_passphrase: authority.passphrase,
      // Octavia requires exactly 32 characters.
      server_certs_key_passphrase: 'conformance-key-of-32-characters',
    },
    controller_worker: {
      amphora_driver: 'amphora_noop_driver',
      compute_driver: 'compute_nova_driver',
      network_driver: 'allowed_address_pairs_driver',
      volume_driver: 'volume_noop_driver',
      image_driver: 'image_glance_driver',
      distributor_driver: 'distributor_noop_driver',
      client_ca: authority.certificate,
      loadbalancer_topology: 'SINGLE',
      amp_image_tag: 'amphora',
      amp_active_wait_sec: 1,
      amp_active_retries: 60,
      workers: 1,
      ...(amphora && {
        amp_flavor_id: amphora.flavor,
        amp_boot_network_list: amphora.managementNetwork,
        amp_secgroup_list: amphora.securityGroup,
        amp_image_owner_id: amphora.imageOwner,
      }),
    },
    networking: { retry_interval: 1, port_detach_timeout: 30 },
    service_auth: credentialsOf(layout, 'octavia'),
    ...commonSections(layout, 'octavia'),
  };
}
