import { policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { stableId } from '../core/stable-id.ts';
import { microseconds } from '../core/time-formats.ts';
import { notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { Host } from './tables.ts';

/** Until 2.53 services and hypervisors have numbers as ids, since then UUIDs. */
function idOf(what: string, minor: number): string | number {
  const hex = stableId(what);
  if (minor < 53) return Number.parseInt(hex.slice(0, 7), 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const serviceIdOf = (binary: string, host: string, minor: number): string | number =>
  idOf(`${binary} on ${host}`, minor);

export function zonesOf(compute: Compute): string[] {
  return [...compute.hosts.keys('zone')].sort();
}

/** Routes of availability zones, and of hosts for administrators. */
export function zoneRoutes(compute: Compute): Route[] {
  const admin = policiesOf('os_compute_api');
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
        const [binary, wantedHost] = [context.query.get('binary'), context.query.get('host')];
        const row = (name: string, host: string, zoneName: string, host_?: Readonly<Host>): ServiceRow => ({
          id: serviceIdOf(name, host, context.minor),
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
          (each) =>
            (binary === undefined || each.binary === binary) && (wantedHost === undefined || each.host === wantedHost),
        );
        return { status: 200, body: { services: wanted } };
      },
    },
  ];
}

interface ServiceRow {
  readonly id: string | number;
  readonly binary: string;
  readonly host: string;
  readonly zone: string;
  readonly status: string;
  readonly state: string;
  readonly updated_at: string;
  readonly disabled_reason: string | null;
  readonly forced_down?: boolean;
}

function hypervisorRoutes(compute: Compute): Route[] {
  const admin = policiesOf('os_compute_api:os-hypervisors');
  const hypervisorId = ({ id }: Readonly<Host>, minor: number): string | number => idOf(`hypervisor ${id}`, minor);
  const brief = ({ minor }: RequestContext, host: Readonly<Host>): object => ({
    id: hypervisorId(host, minor),
    hypervisor_hostname: host.id,
    state: host.up ? 'up' : 'down',
    status: host.enabled ? 'enabled' : 'disabled',
  });
  const serversOn = (host: Readonly<Host>): object[] =>
    [...compute.servers.by('host', host.id)].map(({ id, name }) => ({ uuid: id, name }));
  const full = (context: RequestContext, host: Readonly<Host>): object => {
    const { minor, query } = context;
    const withServers = minor >= 53 && query.get('with_servers')?.toLowerCase() === 'true';
    const hosted = withServers ? serversOn(host) : [];
    return {
      ...brief(context, host),
      hypervisor_type: 'simulated',
      hypervisor_version: 1000,
      host_ip: '127.0.0.1',
      service: { id: serviceIdOf('nova-compute', host.id, minor), host: host.id, disabled_reason: null },
      // From 2.88 on usage is reported by placement only.
      ...(minor < 88 ? usage(host, minor) : { uptime: null }),
      ...((hosted.length > 0 || (withServers && minor >= 75)) && { servers: hosted }),
    };
  };
  const usage = (host: Readonly<Host>, minor: number): object => ({
    vcpus: host.vcpus,
    memory_mb: host.ram,
    local_gb: host.disk,
    vcpus_used: compute.servers.sum('hostCores', host.id),
    memory_mb_used: compute.servers.sum('hostRam', host.id),
    local_gb_used: 0,
    free_ram_mb: host.ram - compute.servers.sum('hostRam', host.id),
    free_disk_gb: host.disk,
    disk_available_least: host.disk,
    running_vms: compute.servers.count('host', host.id),
    current_workload: 0,
    cpu_info: minor < 28 ? '{}' : {},
  });
  const hosts = (): Readonly<Host>[] => [...compute.hosts.all()];
  const find = (context: RequestContext): Readonly<Host> => {
    const id = context.param('id');
    const host = hosts().find((each) => String(hypervisorId(each, context.minor)) === id);
    if (!host) throw notFound(`Hypervisor with ID '${id}' could not be found.`);
    return host;
  };
  /** Finds hosts whose name contains the text. */
  const named = (text: string): Readonly<Host>[] => {
    const found = hosts().filter(({ id }) => id.includes(text));
    if (found.length === 0) throw notFound(`No hypervisor matching '${text}' could be found.`);
    return found;
  };
  const chosen = ({ minor, query }: RequestContext): Readonly<Host>[] => {
    const pattern = minor >= 53 ? query.get('hypervisor_hostname_pattern') : undefined;
    return pattern === undefined ? hosts() : named(pattern);
  };
  return [
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors',
      policy: admin('list'),
      handle: (context) => ({
        status: 200,
        body: { hypervisors: chosen(context).map((host) => brief(context, host)) },
      }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/detail',
      policy: admin('list-detail'),
      handle: (context) => ({
        status: 200,
        body: { hypervisors: chosen(context).map((host) => full(context, host)) },
      }),
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
      path: '/v2.1/os-hypervisors/{text}/search',
      until: 52,
      policy: admin('search'),
      handle: (context) => ({
        status: 200,
        body: { hypervisors: named(context.param('text')).map((host) => brief(context, host)) },
      }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/{text}/servers',
      until: 52,
      policy: admin('servers'),
      handle: (context) => {
        const found = named(context.param('text')).map((host) => {
          const servers = serversOn(host);
          return { ...brief(context, host), ...(servers.length > 0 && { servers }) };
        });
        return { status: 200, body: { hypervisors: found } };
      },
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/{id}/uptime',
      until: 87,
      policy: admin('uptime'),
      handle: (context) => ({ status: 200, body: { hypervisor: { ...brief(context, find(context)), uptime: null } } }),
    },
    {
      method: 'GET',
      path: '/v2.1/os-hypervisors/{id}',
      policy: admin('show'),
      handle: (context) => ({ status: 200, body: { hypervisor: full(context, find(context)) } }),
    },
  ];
}
