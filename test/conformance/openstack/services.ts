import { join } from 'node:path';
import type { DaemonSpec } from './daemons.ts';
import { type Layout, type Listener, loopback } from './layout.ts';
import { settingsFile } from './settings/shared.ts';

export const service = {
  identity: (layout: Layout): DaemonSpec =>
    underUwsgi(layout, 'identity', {
      program: '/usr/bin/keystone-wsgi-public',
      workers: 3,
      env: { OS_KEYSTONE_CONFIG_FILES: settingsFile(layout, 'keystone.conf') },
    }),
  placement: (layout: Layout): DaemonSpec =>
    underUwsgi(layout, 'placement', {
      program: '/usr/bin/placement-api',
      workers: 2,
      env: { OS_PLACEMENT_CONFIG_DIR: layout.settings },
    }),
  image: (layout: Layout): DaemonSpec => module(layout, 'image', 'glance.cmd.api', 'glance-api.conf'),
  network: (layout: Layout): DaemonSpec => ({
    name: 'network',
    file: '/usr/bin/neutron-server',
    args: ['--config-file', settingsFile(layout, 'neutron.conf')],
  }),
  computeApi: (layout: Layout): DaemonSpec => module(layout, 'compute', 'nova.cmd.api_os_compute', 'nova.conf'),
  conductor: (layout: Layout): DaemonSpec => module(layout, 'compute-conductor', 'nova.cmd.conductor', 'nova.conf'),
  scheduler: (layout: Layout): DaemonSpec => module(layout, 'compute-scheduler', 'nova.cmd.scheduler', 'nova.conf'),
  computeHost: (layout: Layout, host: string): DaemonSpec =>
    module(layout, `compute-${host}`, 'nova.cmd.compute', `nova-${host}.conf`),
  volumeApi: (layout: Layout): DaemonSpec => module(layout, 'volume', 'cinder.cmd.api', 'cinder.conf'),
  volumeScheduler: (layout: Layout): DaemonSpec =>
    module(layout, 'volume-scheduler', 'cinder.cmd.scheduler', 'cinder.conf'),
  volumeManager: (layout: Layout): DaemonSpec => module(layout, 'volume-manager', 'cinder.cmd.volume', 'cinder.conf'),
  loadBalancerApi: (layout: Layout): DaemonSpec =>
    underUwsgi(layout, 'loadBalancer', {
      program: join(layout.python, 'load_balancer_wsgi.py'),
      workers: 2,
      env: { OCTAVIA_SETTINGS: settingsFile(layout, 'octavia.conf') },
    }),
  loadBalancerWorker: (layout: Layout): DaemonSpec => ({
    name: 'load-balancer-worker',
    file: '/usr/bin/octavia-worker',
    args: ['--config-file', settingsFile(layout, 'octavia.conf')],
  }),
};

function module(layout: Layout, name: string, python: string, settings: string): DaemonSpec {
  return {
    name,
    file: '/usr/bin/python3',
    args: [join(layout.python, 'run_module.py'), python, '--config-file', settingsFile(layout, settings)],
  };
}

interface WsgiProgram {
  program: string;
  workers: number;
  env: Readonly<Record<string, string>>;
}

function underUwsgi(layout: Layout, name: Listener, { program, workers, env }: WsgiProgram): DaemonSpec {
  return {
    name,
    file: '/usr/bin/uwsgi_python3',
    args: [
      ...['--master', '--die-on-term', '--need-app', '--lazy-apps', '--enable-threads', '--thunder-lock'],
      ...['--http-socket', `${loopback}:${layout.ports[name]}`, '--processes', String(workers)],
      // Allows long tokens and filters. Keep-alive is off, because uwsgi closes connections while clients use them.
      ...['--buffer-size', '65535', '--add-header', 'Connection: close', '--disable-logging'],
      ...['--pythonpath', layout.python, '--wsgi-file', program],
    ],
    env,
  };
}
