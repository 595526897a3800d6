import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { type ComputeHost, type Layout, loopback, region } from '../layout.ts';
import { commonSections, credentialsOf, databaseUrl, messagesUrl, serviceUserSection } from './shared.ts';

/** Settings of nova's API, scheduler and conductor. */
export function computeControlSettings(layout: Layout): IniFile {
  return {
    ...everywhere(layout),
    api_database: { connection: databaseUrl(layout, 'nova_api') },
    database: { connection: databaseUrl(layout, 'nova') },
  };
}

/** Settings of a compute host with nova's fake driver, without access to the database. */
export function computeHostSettings(layout: Layout, host: ComputeHost): IniFile {
  const state = join(layout.data, 'hosts', host.name);
  const settings = everywhere(layout);
  return {
    ...settings,
    DEFAULT: {
      ...settings['DEFAULT'],
      host: host.name,
      state_path: state,
      compute_driver: 'fake.FakeDriver',
    },
    oslo_concurrency: { lock_path: state },
  };
}

function everywhere(layout: Layout): IniFile {
  return {
    DEFAULT: {
      my_ip: loopback,
      transport_url: messagesUrl(layout),
      enabled_apis: 'osapi_compute',
      osapi_compute_listen: loopback,
      osapi_compute_listen_port: layout.ports.compute,
      osapi_compute_workers: 2,
      api_paste_config: '/usr/share/nova-common/api-paste.ini',
      default_availability_zone: 'nova',
      allow_resize_to_same_host: true,
      // Periodic repairs would undo intentional changes of tests, and need much CPU on a small machine.
      sync_power_state_interval: -1,
      heal_instance_info_cache_interval: -1,
      running_deleted_instance_action: 'noop',
      instance_usage_audit: false,
      report_interval: 30,
      service_down_time: 180,
    },
    conductor: { workers: 2 },
    scheduler: { workers: 1, discover_hosts_in_cells_interval: 30 },
    glance: credentialsOf(layout, 'nova'),
    cinder: { ...credentialsOf(layout, 'nova'), os_region_name: region },
    neutron: { ...credentialsOf(layout, 'nova'), default_floating_pool: 'public' },
    placement: credentialsOf(layout, 'placement'),
    quota: {
      instances: 500,
      cores: 5000,
      ram: 20_000_000,
      key_pairs: 500,
      server_groups: 500,
      server_group_members: 500,
      metadata_items: 256,
    },
    vnc: { enabled: false },
    spice: { enabled: false },
    key_manager: { backend: 'nova.keymgr.conf_key_mgr.ConfKeyManager', fixed_key: '0'.repeat(64) },
    os_vif_ovs: { ovsdb_connection: `tcp:${loopback}:6640` },
    ...commonSections(layout, 'nova'),
    ...serviceUserSection(layout, 'nova'),
  };
}
