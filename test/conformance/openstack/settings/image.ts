import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { baseUrl, type Layout, loopback } from '../layout.ts';
import { commonSections, databaseUrl } from './shared.ts';

/** Settings of glance, with images in files. */
export function imageSettings(layout: Layout): IniFile {
  const files = (part: string): { filesystem_store_datadir: string } => ({
    filesystem_store_datadir: join(layout.data, 'images', part),
  });
  return {
    DEFAULT: {
      bind_host: loopback,
      bind_port: layout.ports.image,
      workers: 2,
      enabled_backends: 'files:file',
      public_endpoint: baseUrl(layout, 'image'),
      worker_self_reference_url: baseUrl(layout, 'image'),
    },
    glance_store: { default_backend: 'files' },
    files: files('stored'),
    os_glance_staging_store: files('staging'),
    os_glance_tasks_store: files('tasks'),
    database: { connection: databaseUrl(layout, 'glance') },
    paste_deploy: { flavor: 'keystone', config_file: '/usr/share/glance-common/glance-api-paste.ini' },
    ...commonSections(layout, 'glance'),
  };
}
