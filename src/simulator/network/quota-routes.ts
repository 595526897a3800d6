import type { Caller } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { isDictionary } from './attributes/checks.ts';
import { toBoolean, toInteger } from './attributes/converters.ts';
import type { Neutron } from './neutron.ts';
import { badBody, disallowed, refuse } from './refusals.ts';

/** Default limits of a project. */
export const defaultQuotas: Readonly<Record<string, number>> = {
  network: 100,
  subnet: 100,
  subnetpool: -1,
  port: 500,
  router: 10,
  floatingip: 50,
  rbac_policy: 10,
  security_group: 10,
  security_group_rule: 100,
  trunk: -1,
};

/** Declares the limited resources and how their usage is counted. */
export function declareQuotas(neutron: Neutron): void {
  const counted: Readonly<Record<string, (projectId: string) => number>> = {
    network: (id) => neutron.networks.count('project', id),
    subnet: (id) => neutron.subnets.count('project', id),
    port: (id) => neutron.ports.count('project', id),
    router: (id) => neutron.routers.count('project', id),
    floatingip: (id) => neutron.floatingIps.count('project', id),
    security_group: (id) => neutron.securityGroups.count('project', id),
    security_group_rule: (id) => neutron.securityGroupRules.count('project', id),
    trunk: (id) => neutron.trunks.count('project', id),
    rbac_policy: (id) => neutron.sharings.count('project', id),
    subnetpool: (id) => neutron.subnetPools.count('project', id),
  };
  neutron.core.quotas.declare('network', defaultQuotas, (projectId, resource) => counted[resource]?.(projectId) ?? 0);
}

export function quotaRoutes({ core }: Neutron): Route[] {
  const { quotas } = core;
  const projectOf = (context: RequestContext): string => context.param('project').replace(/\.json$/, '');
  const isForeign = (caller: Caller, project: string): boolean => !caller.isAdmin && project !== caller.projectId;
  const show = (project: string): Answer => ({ status: 200, body: { quota: quotas.limits('network', project) } });
  const defaults = (context: RequestContext): Answer => {
    if (isForeign(context.caller, projectOf(context))) throw disallowed('rule:get_quota');
    return { status: 200, body: { quota: quotas.defaults('network') } };
  };
  const details = (context: RequestContext): Answer => {
    const project = projectOf(context);
    if (isForeign(context.caller, project)) {
      const reason = 'Only admin is authorized to access quotas for another project';
      throw refuse(403, 'AdminRequired', `User does not have admin privileges: ${reason}.`);
    }
    const limits = Object.entries(quotas.limits('network', project));
    const quota = limits.map(([name, limit]) => {
      return [name, { limit, used: quotas.used('network', project, name), reserved: 0 }] as const;
    });
    return { status: 200, body: { quota: Object.fromEntries(quota) } };
  };
  return [
    {
      method: 'GET',
      path: '/v2.0/quotas',
      handle({ caller }): Answer {
        if (!caller.isAdmin) throw disallowed('rule:get_quota');
        const changed = quotas.changedProjects('network');
        return {
          status: 200,
          body: {
            quotas: changed.map((id) => ({ ...quotas.limits('network', id), tenant_id: id, project_id: id })),
          },
        };
      },
    },
    {
      method: 'GET',
      path: '/v2.0/quotas/{project}',
      handle(context): Answer {
        const project = projectOf(context);
        if (project === 'tenant') return { status: 200, body: { tenant: { tenant_id: context.project } } };
        if (project === 'project') return { status: 200, body: { project: { project_id: context.project } } };
        if (isForeign(context.caller, project)) throw disallowed('rule:get_quota');
        return show(project);
      },
    },
    { method: 'GET', path: '/v2.0/quotas/{project}/default', handle: defaults },
    { method: 'GET', path: '/v2.0/quotas/{project}/default.json', handle: defaults },
    { method: 'GET', path: '/v2.0/quotas/{project}/details', handle: details },
    { method: 'GET', path: '/v2.0/quotas/{project}/details.json', handle: details },
    {
      method: 'PUT',
      path: '/v2.0/quotas/{project}',
      handle(context): Answer {
        const { limits, isChecked } = readLimits(context);
        if (!context.caller.isAdmin) throw disallowed('rule:update_quota');
        const project = projectOf(context);
        for (const [name, limit] of isChecked ? Object.entries(limits) : []) {
          const used = quotas.used('network', project, name);
          if (used <= limit) continue;
          throw badBody(`Quota limit ${limit} for ${name} must be greater than or equal to already used ${used}`);
        }
        quotas.set('network', project, limits);
        return show(projectOf(context));
      },
    },
    {
      method: 'DELETE',
      path: '/v2.0/quotas/{project}',
      handle(context): Answer {
        if (!context.caller.isAdmin) throw disallowed('rule:delete_quota');
        quotas.reset('network', projectOf(context));
        return { status: 204 };
      },
    },
  ];
}

interface WantedLimits {
  readonly limits: Readonly<Record<string, number>>;
  /** refuses a limit below the current usage */
  readonly isChecked: boolean;
}

function readLimits(context: RequestContext): WantedLimits {
  const body = context.json;
  if (!isDictionary(body)) throw badBody('Body contains invalid data');
  const given = body['quota'];
  if (!isDictionary(given)) throw badBody("Unable to find 'quota' in request body");
  const { force: _force, check_limit: check, tenant_id: _tenant, project_id: _project, ...desired } = given;
  const unknown = Object.keys(desired).filter((name) => !Object.hasOwn(defaultQuotas, name));
  if (unknown.length > 0) throw badBody(`Unrecognized attribute(s) '${unknown.join(', ')}'`);
  const limits: Record<string, number> = {};
  for (const [name, value] of Object.entries(desired)) {
    const limit = toInteger(value);
    if (limit < -1) {
      throw badBody(`Invalid input for ${name}. Reason: '${limit}' is too small - must be at least '-1'.`);
    }
    limits[name] = limit;
  }
  return { limits, isChecked: check !== undefined && check !== null && toBoolean(check) };
}
