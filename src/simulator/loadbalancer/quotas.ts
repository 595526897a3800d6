import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { isOperator, seesEverything } from './access.ts';
import { integer } from './body/fields.ts';
import { readBody, type Shape } from './body/shape.ts';
import type { Octavia } from './octavia.ts';
import { forbidden, overQuota, type ThingName } from './refusals.ts';

const service = 'load-balancer';

const things: Readonly<Record<string, ThingName>> = {
  load_balancer: 'Load Balancer',
  listener: 'Listener',
  member: 'Member',
  pool: 'Pool',
  health_monitor: 'Health Monitor',
  l7policy: 'L7 Policy',
  l7rule: 'L7 Rule',
};

export type Limited = 'load_balancer' | 'listener' | 'member' | 'pool' | 'health_monitor' | 'l7policy' | 'l7rule';

const defaults: Readonly<Record<string, number>> = Object.fromEntries(Object.keys(things).map((name) => [name, -1]));

/** Old names of resources, still accepted. */
const aliases: Readonly<Record<string, string>> = { loadbalancer: 'load_balancer', healthmonitor: 'health_monitor' };

const limit = { read: integer(-1) };
const shape: Shape = Object.fromEntries([...Object.keys(things), ...Object.keys(aliases)].map((name) => [name, limit]));

export function declareQuotas(octavia: Octavia): void {
  const counted: Readonly<Record<string, (projectId: string) => number>> = {
    load_balancer: (id) => octavia.loadBalancers.count('project', id),
    listener: (id) => octavia.listeners.count('project', id),
    member: (id) => octavia.members.count('project', id),
    pool: (id) => octavia.pools.count('project', id),
    health_monitor: (id) => octavia.monitors.count('project', id),
    l7policy: (id) => octavia.policies.count('project', id),
    l7rule: (id) => octavia.rules.count('project', id),
  };
  octavia.core.quotas.declare(service, defaults, (projectId, resource) => counted[resource]?.(projectId) ?? 0);
}

/** Refuses requests above the project's quota. */
export function checkQuota({ core }: Octavia, projectId: string, resource: Limited, count = 1): void {
  if (core.quotas.excess(service, projectId, { [resource]: count }))
    throw overQuota(must(things[resource], 'things[resource]'));
}

export function quotaRoutes({ core }: Octavia, base: string): Route[] {
  const { quotas } = core;
  const show = (project: string): Answer => ({ status: 200, body: { quota: quotas.limits(service, project) } });
  const operatorOnly = ({ caller }: RequestContext): void => {
    if (!isOperator(caller) && !caller.roles.has('load-balancer_quota_admin')) throw forbidden();
  };
  return [
    {
      method: 'GET',
      path: `${base}/quotas`,
      handle({ caller }): Answer {
        const visible = quotas
          .changedProjects(service)
          .filter((id) => seesEverything(caller) || id === caller.projectId);
        const list = visible.map((id) => {
          const limits = quotas.limits(service, id);
          const old = Object.entries(aliases).map(([alias, name]) => [alias, limits[name]]);
          return { project_id: id, ...Object.fromEntries(old), ...limits, tenant_id: id };
        });
        return { status: 200, body: { quotas: list, quotas_links: [] } };
      },
    },
    {
      method: 'GET',
      path: `${base}/quotas/defaults`,
      handle(context): Answer {
        operatorOnly(context);
        return { status: 200, body: { quota: quotas.defaults(service) } };
      },
    },
    {
      method: 'GET',
      path: `${base}/quotas/{project}`,
      handle(context): Answer {
        const project = context.param('project');
        if (project !== context.caller.projectId && !seesEverything(context.caller)) operatorOnly(context);
        return show(project);
      },
    },
    {
      method: 'PUT',
      path: `${base}/quotas/{project}`,
      handle(context): Answer {
        operatorOnly(context);
        const values = readBody(context, { argument: 'quotas', wrapper: 'quota', shape });
        const limits: Record<string, number> = {};
        for (const [name, value] of Object.entries(values)) {
          limits[aliases[name] ?? name] =
            (value as number | null) ?? must(defaults[aliases[name] ?? name], 'defaults[aliases[name] ?? name]');
        }
        quotas.set(service, context.param('project'), limits);
        return { ...show(context.param('project')), status: 202 };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/quotas/{project}`,
      handle(context): Answer {
        operatorOnly(context);
        quotas.reset(service, context.param('project'));
        return { status: 204 };
      },
    },
  ];
}
