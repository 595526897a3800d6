import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { forbidden, readQuotaSet } from '../core/wrapped-refusals.ts';
import type { Volumes } from './volumes.ts';

const defaults: Readonly<Record<string, number>> = {
  volumes: 10,
  per_volume_gigabytes: -1,
  snapshots: 10,
  gigabytes: 1000,
  backups: 10,
  backup_gigabytes: 1000,
  groups: 10,
};

export function declareQuotas(volumes: Volumes): void {
  volumes.core.quotas.declare('volume', defaults, (projectId, resource) => {
    const { volumes: table, snapshots } = volumes;
    switch (resource) {
      case 'volumes':
        return table.count('project', projectId);
      case 'snapshots':
        return snapshots.count('project', projectId);
      case 'gigabytes':
        return table.sum('gigabytes', projectId) + snapshots.sum('gigabytes', projectId);
      default:
        return perType(volumes, projectId, resource);
    }
  });
}

/** Counts usage per type, for example `volumes_TYPE`. There are no limits per type. */
function perType(volumes: Volumes, projectId: string, resource: string): number {
  const separator = resource.indexOf('_');
  const type = volumes.types.first('name', resource.slice(separator + 1));
  if (!type) return 0;
  const key = `${projectId} ${type.id}`;
  if (resource.startsWith('volumes_')) return volumes.volumes.count('type', key);
  return resource.startsWith('gigabytes_') ? volumes.volumes.sum('typeGigabytes', key) : 0;
}

/** Returns the limits of the default class, which apply to every project. */
function classLimits(volumes: Volumes): Record<string, number> {
  return withTypes(volumes, { ...volumes.core.quotas.defaults('volume') });
}

function limitsOf(volumes: Volumes, projectId: string): Record<string, number> {
  return withTypes(volumes, volumes.core.quotas.limits('volume', projectId));
}

function withTypes(volumes: Volumes, limits: Record<string, number>): Record<string, number> {
  for (const { name } of volumes.types.all()) {
    for (const kind of ['volumes', 'gigabytes', 'snapshots']) limits[`${kind}_${name}`] ??= -1;
  }
  return limits;
}

export function quotaRoutes(volumes: Volumes): Route[] {
  const { quotas } = volumes.core;
  const mayRead = (context: RequestContext): string => {
    const project = context.param('project');
    if (project !== context.project && !context.caller.isAdmin) {
      throw forbidden("Policy doesn't allow volume_extension:quotas:show to be performed.");
    }
    return project;
  };
  const path = '/os-quota-sets/{project}';
  const classPath = '/os-quota-class-sets/{class}';
  return [
    {
      method: 'GET',
      path: '/limits',
      policy: { name: 'limits_extension:used_limits', level: 'reader' },
      handle: (context) => {
        const { project } = context;
        const limit = (name: string): number => quotas.limit('volume', project, name);
        const used = (name: string): number => quotas.used('volume', project, name);
        const absolute = {
          maxTotalVolumes: limit('volumes'),
          maxTotalSnapshots: limit('snapshots'),
          maxTotalVolumeGigabytes: limit('gigabytes'),
          maxTotalBackups: limit('backups'),
          maxTotalBackupGigabytes: limit('backup_gigabytes'),
          totalVolumesUsed: used('volumes'),
          totalGigabytesUsed: used('gigabytes'),
          totalSnapshotsUsed: used('snapshots'),
          totalBackupsUsed: 0,
          totalBackupGigabytesUsed: 0,
        };
        return { status: 200, body: { limits: { rate: [], absolute } } };
      },
    },
    {
      method: 'GET',
      path,
      handle: (context) => {
        const project = mayRead(context);
        const limits = limitsOf(volumes, project);
        const withUsage = context.query.get('usage')?.toLowerCase() === 'true';
        const set = Object.fromEntries(
          Object.entries(limits).map(([name, limit]) => [
            name,
            withUsage ? { limit, in_use: quotas.used('volume', project, name), reserved: 0 } : limit,
          ]),
        );
        return { status: 200, body: { quota_set: { ...set, id: project } } };
      },
    },
    {
      method: 'GET',
      path: `${path}/defaults`,
      handle: (context) => ({
        status: 200,
        body: { quota_set: { ...quotas.defaults('volume'), id: context.param('project') } },
      }),
    },
    {
      method: 'GET',
      path: classPath,
      policy: { name: 'volume_extension:quota_classes:get', level: 'admin' },
      handle: (context) => {
        const name = context.param('class');
        return { status: 200, body: { quota_class_set: { ...classLimits(volumes), id: name } } };
      },
    },
    {
      method: 'PUT',
      path: classPath,
      policy: { name: 'volume_extension:quota_classes:update', level: 'admin' },
      handle: (context) => {
        const wanted = readQuotaSet(context.json, 'quota_class_set');
        const known = classLimits(volumes);
        const limits: Record<string, number> = {};
        for (const [name, value] of Object.entries(wanted))
          if (Object.hasOwn(known, name)) limits[name] = Number(value);
        // Limits of other classes have no effect, because no project belongs to them.
        if (context.param('class') === 'default') quotas.setDefaults('volume', limits);
        return { status: 200, body: { quota_class_set: { ...known, ...limits } } };
      },
    },
    {
      method: 'PUT',
      path,
      policy: { name: 'volume_extension:quotas:update', level: 'admin' },
      handle: (context) => {
        const project = context.param('project');
        const desired = readQuotaSet(context.json);
        const known = limitsOf(volumes, project);
        const limits: Record<string, number> = {};
        for (const [name, value] of Object.entries(desired)) if (name in known) limits[name] = Number(value);
        quotas.set('volume', project, limits);
        return { status: 200, body: { quota_set: limitsOf(volumes, project) } };
      },
    },
    {
      method: 'DELETE',
      path,
      policy: { name: 'volume_extension:quotas:delete', level: 'admin' },
      handle: (context) => {
        quotas.reset('volume', context.param('project'));
        return { status: 200 };
      },
    },
  ];
}
