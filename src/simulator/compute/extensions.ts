import type { Route } from '../core/service.ts';
import { notFound } from '../core/wrapped-refusals.ts';

/**
 * Nova's extensions are part of its API today, but nova still lists them for old clients. This list has only those
 * whose calls are implemented.
 */
const aliases: readonly string[] = [
  ...['os-admin-actions', 'os-admin-password', 'os-aggregates', 'os-attach-interfaces', 'os-availability-zone'],
  ...['os-config-drive', 'os-console-output', 'os-create-server-ext', 'os-deferred-delete', 'os-disk-config'],
  ...['os-extended-availability-zone', 'os-extended-server-attributes', 'os-extended-status', 'os-extended-volumes'],
  ...['os-flavor-access', 'os-flavor-extra-specs', 'os-flavor-manage', 'os-hypervisors', 'os-instance-actions'],
  ...['os-keypairs', 'os-lock-server', 'os-migrate-server', 'os-migrations', 'os-pause-server', 'os-quota-sets'],
  ...['os-remote-consoles', 'os-rescue', 'os-scheduler-hints', 'os-security-groups', 'os-server-diagnostics'],
  ...['os-server-groups', 'os-server-usage', 'os-services', 'os-shelve', 'os-suspend-server', 'os-used-limits'],
  ...['os-user-data', 'os-volumes', 'flavors', 'ips', 'limits', 'server-metadata', 'servers'],
];

const extension = (alias: string): object => ({
  alias,
  name: alias
    .replace(/^os-/, '')
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(''),
  description: '',
  namespace: 'http://docs.openstack.org/compute/ext/fake_xml',
  updated: '2014-12-03T00:00:00Z',
  links: [],
});

export const extensionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v2.1/extensions',
    handle: () => ({ status: 200, body: { extensions: aliases.map(extension) } }),
  },
  {
    method: 'GET',
    path: '/v2.1/extensions/{alias}',
    handle: (context) => {
      const alias = context.param('alias');
      if (!aliases.includes(alias)) throw notFound(`Extension ${alias} could not be found.`);
      return { status: 200, body: { extension: extension(alias) } };
    },
  },
];
