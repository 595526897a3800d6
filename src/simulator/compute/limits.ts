import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { badRequest, forbidden, readQuotaSet } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';

const defaults: Readonly<Record<string, number>> = {
  instances: 10,
  cores: 20,
  ram: 51_200,
  metadata_items: 128,
  key_pairs: 100,
  server_groups: 10,
  server_group_members: 10,
  injected_files: 5,
  injected_file_content_bytes: 10_240,
  injected_file_path_bytes: 255,
  fixed_ips: -1,
  floating_ips: -1,
  security_groups: -1,
  security_group_rules: -1,
};

export function declareQuotas(compute: Compute): void {
  compute.core.quotas.declare('compute', defaults, (projectId, resource) => {
    switch (resource) {
      case 'instances':
        return compute.servers.count('project', projectId);
      case 'cores':
        return compute.servers.sum('cores', projectId);
      case 'ram':
        return compute.servers.sum('ram', projectId);
      case 'server_groups':
        return compute.serverGroups.count('project', projectId);
      default:
        return 0;
    }
  });
}

/** Resources that the limits of this microversion include. */
function shown(minor: number): string[] {
  const left = (name: string): boolean =>
    (minor < 36 || !['fixed_ips', 'floating_ips', 'security_groups', 'security_group_rules'].includes(name)) &&
    (minor < 57 || !name.startsWith('injected_'));
  return Object.keys(defaults).filter(left);
}

/** Routes of limits and quotas. */
export function limitRoutes(compute: Compute): Route[] {
  const { quotas } = compute.core;
  const mayRead = (context: RequestContext, rule: string): string => {
    const project = context.param('project');
    if (project !== context.project && !context.caller.isAdmin) {
      throw forbidden(`Policy doesn't allow os_compute_api:os-quota-sets:${rule} to be performed.`);
    }
    return project;
  };
  const base = '/v2.1/os-quota-sets/{project}';
  return [
    {
      method: 'GET',
      path: '/v2.1/limits',
      policy: { name: 'os_compute_api:limits', level: 'reader' },
      handle: (context) => {
        const project = (context.caller.isAdmin ? context.query.get('tenant_id') : undefined) ?? context.project;
        return { status: 200, body: { limits: { rate: [], absolute: absoluteLimits(compute, context, project) } } };
      },
    },
    {
      method: 'GET',
      path: base,
      handle: (context) => {
        const project = mayRead(context, 'show');
        const limits = quotas.limits('compute', project);
        const set = Object.fromEntries(shown(context.minor).map((name) => [name, limits[name]]));
        return { status: 200, body: { quota_set: { id: project, ...set } } };
      },
    },
    {
      method: 'GET',
      path: `${base}/detail`,
      handle: (context) => {
        const project = mayRead(context, 'detail');
        const limits = quotas.limits('compute', project);
        const set = Object.fromEntries(
          shown(context.minor).map((name) => [
            name,
            { in_use: quotas.used('compute', project, name), limit: limits[name], reserved: 0 },
          ]),
        );
        return { status: 200, body: { quota_set: { id: project, ...set } } };
      },
    },
    {
      method: 'GET',
      path: `${base}/defaults`,
      handle: (context) => {
        const set = Object.fromEntries(shown(context.minor).map((name) => [name, defaults[name]]));
        return { status: 200, body: { quota_set: { id: context.param('project'), ...set } } };
      },
    },
    {
      method: 'PUT',
      path: base,
      policy: { name: 'os_compute_api:os-quota-sets:update', level: 'admin' },
      handle: (context) => {
        const project = context.param('project');
        const desired = readQuotaSet(context.json);
        const isForced = desired['force'] === true || desired['force'] === 'True';
        const limits: Record<string, number> = {};
        for (const name of shown(context.minor)) {
          if (desired[name] === undefined) continue;
          const value = Number(desired[name]);
          const used = quotas.used('compute', project, name);
          if (!isForced && value >= 0 && value < used) {
            throw badRequest(
              `Quota limit ${value} for ${name} must be greater than or equal to already used and reserved ${used}.`,
            );
          }
          limits[name] = value;
        }
        quotas.set('compute', project, limits);
        const after = quotas.limits('compute', project);
        return {
          status: 200,
          body: { quota_set: Object.fromEntries(shown(context.minor).map((name) => [name, after[name]])) },
        };
      },
    },
    {
      method: 'DELETE',
      path: base,
      policy: { name: 'os_compute_api:os-quota-sets:delete', level: 'admin' },
      handle: (context) => {
        quotas.reset('compute', context.param('project'));
        return { status: 202 };
      },
    },
  ];
}

function absoluteLimits(compute: Compute, { minor }: RequestContext, project: string): object {
  const { quotas } = compute.core;
  const limits = quotas.limits('compute', project);
  const used = (name: string): number => quotas.used('compute', project, name);
  return {
    maxTotalInstances: limits['instances'],
    maxTotalCores: limits['cores'],
    maxTotalRAMSize: limits['ram'],
    maxServerMeta: limits['metadata_items'],
    ...(minor < 39 && { maxImageMeta: limits['metadata_items'] }),
    ...(minor < 57 && {
      maxPersonality: limits['injected_files'],
      maxPersonalitySize: limits['injected_file_content_bytes'],
    }),
    maxTotalKeypairs: limits['key_pairs'],
    maxServerGroups: limits['server_groups'],
    maxServerGroupMembers: limits['server_group_members'],
    ...(minor < 36 && { maxTotalFloatingIps: -1, maxSecurityGroups: -1, maxSecurityGroupRules: -1 }),
    totalRAMUsed: used('ram'),
    totalCoresUsed: used('cores'),
    totalInstancesUsed: used('instances'),
    ...(minor < 36 && { totalFloatingIpsUsed: 0, totalSecurityGroupsUsed: 0 }),
    totalServerGroupsUsed: used('server_groups'),
  };
}
