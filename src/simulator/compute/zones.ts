import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { microseconds } from '../core/time-formats.ts';
import { notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { Host } from './tables.ts';

export function zonesOf(compute: Compute): string[] {
  return [...compute.hosts.keys('zone')].sort();
}

/** Zones for everybody, hosts for administrators. */
export function zoneRoutes(compute: Compute): Route[] {
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `os_compute_api:${name}`, level: 'admin' });
  const zone = (zoneName: string): { zoneName: string; zoneState: object } => ({
    zoneName,
    zoneState: { available: [...compute.hosts.by('zone', zoneName)].some(({ enabled, up }) => enabled && up) },
  });
  const time = (): string => microseconds(compute.core.now());
  return [
    {
      method: 'GET',
      path: '/v2.1/os-availability-zone',
      policy: { name: 'os_compute_api:os-availability-zone:list', level: 'reader' },
      handle: () => ({
        status: 200,
        body: { availabilityZoneInfo: zonesOf(compute).map((name) => ({ ...zone(name), hosts: null })) },
      }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-availability-zone/detail',
      policy: admin('os-availability-zone:detail'),
      handle: () => {
        const hosts = (name: string): object =>
          Object.fromEntries(
            [...compute.hosts.by('zone', name)].map(({ id, enabled, up }) => [
              id,
              { 'nova-compute': { available: up, active: enabled, updated_at: time() } },
            ]),
          );
        const zones = zonesOf(compute).map((name) => ({ ...zone(name), hosts: hosts(name) }));
        return { status: 200, body: { availabilityZoneInfo: zones } };
      },
    },
    ...hypervisorRoutes(compute),
    {
      method: 'GET',
      path: '/v2.1/os-services',
      policy: admin('os-services:list'),
      handle: (context) => {
        const binary = context.query.get('binary');
        const row = (name: string, host: string, zoneName: string, host_?: Readonly<Host>): object => ({
          id: `${name}-${host}`,
          binary: name,
          host,
          zone: zoneName,
          status: (host_?.enabled ?? true) ? 'enabled' : 'disabled',
          state: (host_?.up ?? true) ? 'up' : 'down',
          updated_at: time(),
          disabled_reason: null,
          ...(context.minor >= 11 && { forced_down: false }),
        });
        const services = [
          row('nova-scheduler', 'controller', 'internal'),
          row('nova-conductor', 'controller', 'internal'),
          ...[...compute.hosts.all()].map((host) => row('nova-compute', host.id, host.zone, host)),
        ];
        const wanted = services.filter(
          (each) => binary === undefined || (each as { binary: string }).binary === binary,
        );
        return { status: 200, body: { services: wanted } };
      },
    },
  ];
}

function hypervisorRoutes(compute: Compute): Route[] {
  const admin = (name: string): NonNullable<Route['policy']> => ({
    name: `os_compute_api:os-hypervisors:${name}`,
    level: 'admin',
  });
  const brief = ({ id, enabled, up }: Readonly<Host>): object => ({
    id,
    hypervisor_hostname: id,
    state: up ? 'up' : 'down',
    status: enabled ? 'enabled' : 'disabled',
  });
  const full = (host: Readonly<Host>): object => ({
    ...brief(host),
    vcpus: host.vcpus,
    memory_mb: host.ram,
    local_gb: host.disk,
    vcpus_used: compute.servers.sum('hostCores', host.id),
    memory_mb_used: compute.servers.sum('hostRam', host.id),
    local_gb_used: 0,
    free_ram_mb: host.ram - compute.servers.sum('hostRam', host.id),
    free_disk_gb: host.disk,
    running_vms: compute.servers.count('host', host.id),
    current_workload: 0,
    hypervisor_type: 'simulated',
    hypervisor_version: 1000,
    host_ip: '127.0.0.1',
    cpu_info: {},
    service: { id: host.id, host: host.id, disabled_reason: null },
    servers: [...compute.servers.by('host', host.id)].map(({ id, name }) => ({ uuid: id, name })),
  });
  const hosts = (): Readonly<Host>[] => [...compute.hosts.all()];
  const find = (context: RequestContext): Readonly<Host> => {
    const host = compute.hosts.get(context.param('id'));
    if (!host) throw notFound(`Compute host ${context.param('id')} could not be found.`);
    return host;
  };
  return [
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors',
      policy: admin('list'),
      handle: () => ({ status: 200, body: { hypervisors: hosts().map(brief) } }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/detail',
      policy: admin('list-detail'),
      handle: () => ({ status: 200, body: { hypervisors: hosts().map(full) } }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/statistics',
      until: 87,
      policy: admin('statistics'),
      handle: () => {
        const total = (read: (host: Readonly<Host>) => number): number =>
          hosts().reduce((sum, each) => sum + read(each), 0);
        const used = (sum: 'hostCores' | 'hostRam'): number => total(({ id }) => compute.servers.sum(sum, id));
        const [ram, disk] = [total((each) => each.ram), total((each) => each.disk)];
        return {
          status: 200,
          body: {
            hypervisor_statistics: {
              count: hosts().length,
              vcpus: total(({ vcpus }) => vcpus),
              vcpus_used: used('hostCores'),
              memory_mb: ram,
              memory_mb_used: used('hostRam'),
              free_ram_mb: ram - used('hostRam'),
              local_gb: disk,
              local_gb_used: 0,
              free_disk_gb: disk,
              disk_available_least: disk,
              current_workload: 0,
              running_vms: total(({ id }) => compute.servers.count('host', id)),
            },
          },
        };
      },
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/{id}/uptime',
      until: 87,
      policy: admin('uptime'),
      handle: (context) => ({ status: 200, body: { hypervisor: { ...brief(find(context)), uptime: null } } }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/{id}',
      policy: admin('show'),
      handle: (context) => ({ status: 200, body: { hypervisor: full(find(context)) } }),
    },
  ];
}
