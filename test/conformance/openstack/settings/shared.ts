import { join } from 'node:path';
import type { IniFile, IniSection } from '../ini.ts';
import { baseUrl, type Layout, loopback, region } from '../layout.ts';

export const databases = [
  'keystone',
  'placement',
  'glance',
  'neutron',
  'nova_api',
  'nova',
  'nova_cell0',
  'cinder',
  'octavia',
] as const;
export type Database = (typeof databases)[number];

/** Account of all services in the database and the message broker. */
export const serviceAccount = 'openstack';

export function databaseUrl(layout: Layout, name: Database): string {
  return `mysql+pymysql://${serviceAccount}:${layout.password}@localhost/${name}?unix_socket=${layout.databaseSocket}&charset=utf8`;
}

export function messagesUrl(layout: Layout): string {
  return `rabbit://${serviceAccount}:${layout.password}@${loopback}:${layout.ports.messages}/`;
}

export function settingsFile(layout: Layout, name: string): string {
  return join(layout.settings, name);
}

/** Settings with which a service authenticates as `user` to call another one. */
export function credentialsOf(layout: Layout, user: string): IniSection {
  return {
    auth_type: 'password',
    auth_url: `${baseUrl(layout, 'identity')}/v3`,
    username: user,
    password: layout.password,
    project_name: 'service',
    user_domain_name: 'Default',
    project_domain_name: 'Default',
    region_name: region,
  };
}

/** Common settings of all services except keystone: token validation, locks, no notifications. */
export function commonSections(layout: Layout, user: string): IniFile {
  return {
    keystone_authtoken: {
      ...credentialsOf(layout, user),
      www_authenticate_uri: baseUrl(layout, 'identity'),
      memcached_servers: `${loopback}:${layout.ports.tokenCache}`,
      service_token_roles: 'service',
      service_token_roles_required: true,
    },
    oslo_concurrency: { lock_path: join(layout.data, 'locks') },
    oslo_messaging_notifications: { driver: 'noop' },
  };
}

/** Lets a service extend a user's request beyond the expiry of the user's token. */
export function serviceUserSection(layout: Layout, user: string): IniFile {
  return { service_user: { ...credentialsOf(layout, user), send_service_user_token: true } };
}
