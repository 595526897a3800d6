import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { baseUrl, type Layout, loopback } from '../layout.ts';
import { commonSections, credentialsOf, databaseUrl, messagesUrl, serviceUserSection } from './shared.ts';

/** Settings of cinder, with one backend without storage per availability zone. */
export function volumeSettings(layout: Layout): IniFile {
  const zones = [...new Set(layout.hosts.map((host) => host.zone))].sort();
  const backends = zones.map((zone) => [
    zone,
    {
      volume_driver: 'pretended.volumes.StoragelessDriver',
      volume_backend_name: 'storageless',
      backend_availability_zone: zone,
    },
  ]);
  return {
    DEFAULT: {
      my_ip: loopback,
      host: 'volumes',
      transport_url: messagesUrl(layout),
      osapi_volume_listen: loopback,
      osapi_volume_listen_port: layout.ports.volume,
      osapi_volume_workers: 2,
      api_paste_config: '/usr/share/cinder-common/api-paste.ini',
      resource_query_filters_file: '/etc/cinder/resource_filters.json',
      auth_strategy: 'keystone',
      state_path: join(layout.data, 'volumes'),
      image_conversion_dir: join(layout.data, 'volumes', 'conversion'),
      storage_availability_zone: 'nova',
      default_availability_zone: 'nova',
      enabled_backends: zones.join(','),
      glance_api_servers: baseUrl(layout, 'image'),
      report_interval: 30,
      service_down_time: 180,
      quota_volumes: 1000,
      quota_snapshots: 1000,
      quota_gigabytes: 1_000_000,
    },
    database: { connection: databaseUrl(layout, 'cinder') },
    coordination: { backend_url: `file://${join(layout.data, 'volumes', 'coordination')}` },
    nova: { ...credentialsOf(layout, 'nova'), interface: 'internal' },
    key_manager: { backend: 'cinder.keymgr.conf_key_mgr.ConfKeyManager', fixed_key: '0'.repeat(64) },
    ...commonSections(layout, 'cinder'),
    ...serviceUserSection(layout, 'cinder'),
    ...Object.fromEntries(backends),
  };
}
