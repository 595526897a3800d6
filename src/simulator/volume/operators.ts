import type { Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { notFound } from '../core/wrapped-refusals.ts';
import { hostName, poolName } from './views.ts';
import type { Volumes } from './volumes.ts';

/** Routes for operators: services, hosts, and the capacity and capabilities of the only backend. */
export function operatorRoutes(volumes: Volumes): Route[] {
  const admin = (name: string): NonNullable<Route['policy']> => ({ name, level: 'admin' });
  return [
    {
      method: 'GET',
      path: '/os-services',
      policy: admin('volume_extension:services:index'),
      handle: ({ query }) => {
        const [binary, host] = [query.get('binary') ?? query.get('service'), query.get('host')];
        const found = servicesOf(volumes).filter(
          (service) =>
            (binary === undefined || service.binary === binary) && (host === undefined || isOn(service.host, host)),
        );
        return { status: 200, body: { services: found } };
      },
    },
    {
      method: 'GET',
      path: '/os-hosts',
      policy: admin('volume_extension:hosts'),
      handle: () => ({
        status: 200,
        body: {
          hosts: servicesOf(volumes).map(({ binary, host, zone, status, updated_at }) => ({
            host_name: host,
            service: binary,
            zone,
            'service-status': 'available',
            'service-state': status,
            'last-update': updated_at,
          })),
        },
      }),
    },
    {
      method: 'GET',
      path: '/os-hosts/{host}',
      policy: admin('volume_extension:hosts'),
      handle: (context) => {
        const host = context.param('host');
        if (host !== hostName) throw notFound(`Host ${host} could not be found.`);
        return { status: 200, body: { host: usageOf(volumes).map((resource) => ({ resource })) } };
      },
    },
    {
      method: 'GET',
      path: '/capabilities/{host}',
      policy: admin('volume_extension:capabilities'),
      handle: (context) => {
        const host = context.param('host');
        if (host !== hostName) throw notFound(`Service ${host} could not be found.`);
        return { status: 200, body: capabilities };
      },
    },
    {
      method: 'GET',
      path: '/scheduler-stats/get_pools',
      policy: admin('scheduler_extension:scheduler_stats:get_pools'),
      handle: ({ query }) => ({
        status: 200,
        body: { pools: [query.get('detail')?.toLowerCase() === 'true' ? poolOf(volumes) : { name: poolName }] },
      }),
    },
  ];
}

interface ServiceView {
  readonly binary: string;
  readonly host: string;
  readonly zone: string;
  readonly status: 'enabled';
  readonly state: 'up';
  readonly updated_at: string;
  readonly disabled_reason: null;
}

function servicesOf({ core }: Volumes): ServiceView[] {
  const common = {
    zone: 'nova',
    status: 'enabled',
    state: 'up',
    updated_at: wholeSeconds(core.now()),
    disabled_reason: null,
  } as const;
  const backend = { replication_status: 'disabled', active_backend_id: null, frozen: false };
  return [
    { binary: 'cinder-scheduler', host: hostName.split('@')[0] ?? '', ...common },
    { binary: 'cinder-volume', host: hostName, ...common, ...backend },
  ];
}

/** A host also matches all of its backends. */
function isOn(host: string, wanted: string): boolean {
  return host === wanted || host.startsWith(`${wanted}@`);
}

/** Returns the usage of the only host, in total and by project. */
function usageOf(volumes: Volumes): object[] {
  const projects = new Map<string, { volumes: number; volumeGb: number; snapshots: number; snapshotGb: number }>();
  const of = (project: string): { volumes: number; volumeGb: number; snapshots: number; snapshotGb: number } => {
    const known = projects.get(project) ?? { volumes: 0, volumeGb: 0, snapshots: 0, snapshotGb: 0 };
    projects.set(project, known);
    return known;
  };
  of('(total)');
  for (const { projectId, size } of volumes.volumes.all()) {
    for (const use of [of('(total)'), of(projectId)]) {
      use.volumes++;
      use.volumeGb += size;
    }
  }
  for (const { projectId, size } of volumes.snapshots.all()) {
    for (const use of [of('(total)'), of(projectId)]) {
      use.snapshots++;
      use.snapshotGb += size;
    }
  }
  return [...projects].map(([project, use]) => ({
    host: hostName,
    project,
    volume_count: String(use.volumes),
    total_volume_gb: String(use.volumeGb),
    snapshot_count: String(use.snapshots),
    total_snapshot_gb: String(use.snapshotGb),
  }));
}

const backend = {
  volume_backend_name: 'simulated',
  vendor_name: 'simulated',
  driver_version: '1.0',
  storage_protocol: 'simulated',
} as const;

const property = (title: string, description: string): object => ({ title, description, type: 'boolean' });

const capabilities: object = {
  namespace: `OS::Storage::Capabilities::${hostName}`,
  ...backend,
  pool_name: null,
  display_name: null,
  description: null,
  visibility: null,
  replication_targets: [],
  properties: {
    thin_provisioning: property('Thin Provisioning', 'Sets thin provisioning.'),
    compression: property('Compression', 'Enables compression.'),
    qos: property('QoS', 'Enables QoS.'),
    replication_enabled: property('Replication', 'Enables replication.'),
  },
};

/** Nominal capacity. It is never exhausted. */
const poolGigabytes = 1_000_000;

function poolOf(volumes: Volumes): object {
  let [count, gigabytes] = [0, 0];
  for (const { size } of volumes.volumes.all()) {
    count++;
    gigabytes += size;
  }
  return {
    name: poolName,
    capabilities: {
      ...backend,
      total_capacity_gb: poolGigabytes,
      free_capacity_gb: Math.max(0, poolGigabytes - gigabytes),
      allocated_capacity_gb: gigabytes,
      provisioned_capacity_gb: gigabytes,
      reserved_percentage: 0,
      max_over_subscription_ratio: '20.0',
      thin_provisioning_support: true,
      thick_provisioning_support: false,
      QoS_support: true,
      multiattach: true,
      total_volumes: count,
      filter_function: null,
      goodness_function: null,
      timestamp: wholeSeconds(volumes.core.now()),
    },
  };
}
