import type { Caller } from '../core/caller.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite, isOperator } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { findFlavor, findZone } from './flavors.ts';
import { graphShape, insertGraph, viewGraph } from './graph.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { idsOf, type Octavia, partsOf, times } from './octavia.ts';
import { providers } from './providers.ts';
import { checkQuota } from './quotas.ts';
import { forbidden, invalid, noSuch, notFound, overQuota } from './refusals.ts';
import type { LoadBalancerRow } from './rows.ts';
import { noStats } from './statistics.ts';
import { statusTree } from './status-tree.ts';
import { makeVip, planAdditional, planVip } from './vip.ts';

const additionalShape: Shape = {
  subnet_id: { read: fields.uuid, mandatory: true },
  ip_address: { read: fields.ip },
};

const createShape: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
  admin_state_up: { read: fields.boolean, default: true },
  vip_address: { read: fields.ip },
  vip_port_id: { read: fields.uuid },
  vip_subnet_id: { read: fields.uuid },
  vip_network_id: { read: fields.uuid },
  vip_qos_policy_id: { read: fields.uuid },
  additional_vips: { read: fields.list(fields.nested(additionalShape)), default: [] },
  project_id: { read: fields.text(36) },
  ...graphShape,
  provider: { read: fields.text(64) },
  tags: { read: fields.tags },
  flavor_id: { read: fields.uuid },
  availability_zone: { read: fields.text(255) },
};

const updateShape: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
  vip_qos_policy_id: { read: fields.uuid },
  admin_state_up: { read: fields.boolean },
  tags: { read: fields.tags },
};

const filters = [
  'vip_address',
  'vip_port_id',
  'vip_subnet_id',
  'vip_network_id',
  'provider',
  'flavor_id',
  'availability_zone',
];
const argument = 'load_balancer';

export function loadBalancerRoutes(octavia: Octavia, base: string): Route[] {
  const { loadBalancers } = octavia;
  const path = `${base}/loadbalancers`;
  const view = (row: Readonly<LoadBalancerRow>): Record<string, unknown> => viewLoadBalancer(octavia, row);
  const listed: Listed<LoadBalancerRow> = { collection: 'loadbalancers', table: loadBalancers, filters, view };
  const find = (id: string): Readonly<LoadBalancerRow> => {
    const row = loadBalancers.get(id);
    if (!row) throw notFound('Load Balancer', id);
    return row;
  };
  const status = (name: string): Route => ({
    method: 'GET',
    path: `${path}/{id}/${name}`,
    handle(context): Answer {
      const row = find(context.param('id'));
      checkRead(context.caller, row.project_id);
      return { status: 200, body: { statuses: { loadbalancer: statusTree(octavia, row) } } };
    },
  });
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const names = context.query.all('name');
        const candidates =
          names.length === 1 && names[0] !== '' ? loadBalancers.by('name', names[0]!.toLowerCase()) : undefined;
        return listAnswer(context, listed, candidates);
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const values = readBody(context, { argument, wrapper: 'loadbalancer', shape: createShape });
        const { lb, graph } = create(octavia, values, context.caller);
        return { status: 201, body: { loadbalancer: { ...graph, ...withoutParts(view(lb)) } } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { loadbalancer: pick(view(row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument, wrapper: 'loadbalancer', shape: updateShape });
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        checkQos(octavia, values, context.caller);
        octavia.lockItself(row.id, 'update');
        const changed = loadBalancers.update(row.id, changesOf(values));
        if ('vip_qos_policy_id' in values) {
          octavia.core.services.network.setPortQosPolicy(row.vip_port_id, changed.vip_qos_policy_id ?? null);
        }
        octavia.begin(changed, 'update');
        return { status: 200, body: { loadbalancer: view(changed) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context.param('id'));
        checkWrite(context.caller, row.project_id);
        const isCascade = ['true', '1', 'yes', 'on', 't', 'y'].includes(
          context.query.get('cascade')?.toLowerCase() ?? '',
        );
        const hasParts =
          octavia.listeners.count('loadBalancer', row.id) > 0 || octavia.pools.count('loadBalancer', row.id) > 0;
        if (hasParts && !isCascade) throw invalid(`Cannot delete Load Balancer ${row.id} - it has children`);
        octavia.begin(octavia.lockItself(row.id, 'delete'), 'delete');
        return { status: 204 };
      },
    },
    status('status'),
    status('statuses'),
    {
      method: 'GET',
      path: `${path}/{id}/stats`,
      handle(context): Answer {
        checkRead(context.caller, find(context.param('id')).project_id);
        return { status: 200, body: { stats: noStats } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}/failover`,
      handle(context): Answer {
        const row = find(context.param('id'));
        if (!isOperator(context.caller)) throw forbidden();
        const lb = octavia.lockItself(row.id, 'failover');
        const parts = partsOf(octavia, row.id);
        for (const part of parts) octavia.mark(part, 'PENDING_UPDATE');
        octavia.begin(lb, 'failover', parts);
        return { status: 202 };
      },
    },
  ];
}

function create(
  octavia: Octavia,
  values: Values,
  caller: Caller,
): { lb: Readonly<LoadBalancerRow>; graph: { listeners: object[]; pools: object[] } } {
  const projectId = (values['project_id'] as string | null | undefined) ?? caller.projectId;
  if (projectId === undefined) {
    throw invalid(
      'Missing project ID in request where one is required. An administrator should check the keystone settings in the Octavia configuration.',
    );
  }
  checkWrite(caller, projectId);
  const { network } = octavia.core.services;
  const plan = planVip(octavia, values, (id) => {
    const found = network.network(id);
    return found !== undefined && (network.canUse(found, caller) || found.isExternal);
  });
  checkQos(octavia, values, caller);
  const flavorId = (values['flavor_id'] as string | null | undefined) ?? null;
  const zone = (values['availability_zone'] as string | null | undefined) ?? null;
  const flavor = flavorId === null ? undefined : findFlavor(octavia, flavorId);
  if (flavorId !== null && !flavor) throw invalid('Invalid flavor_id.');
  if (flavor && !flavor.enabled) {
    throw new Refusal(400, `The selected flavor is not allowed in this deployment: ${flavor.id}`);
  }
  if (zone !== null && !findZone(octavia, zone)) throw invalid('Invalid availability zone.');
  const provider = (values['provider'] as string | null | undefined) ?? flavor?.provider ?? 'amphora';
  if (!providers.some(({ name }) => name === provider))
    throw new Refusal(400, `Provider '${provider}' is not enabled.`);
  if (flavor && flavor.provider !== provider) {
    throw new Refusal(400, `Flavor '${flavor.id}' is not compatible with provider '${provider}'`);
  }
  const additional = planAdditional(octavia, plan, values);
  const about = { projectId, name: (values['name'] as string | null | undefined) ?? '' };
  if (outcomeOf(octavia.core, 'loadbalancer.quota', about)?.kind === 'over-quota') throw overQuota('Load Balancer');
  checkQuota(octavia, projectId, 'load_balancer');
  const fresh = octavia.fresh(values, projectId);
  const lb = octavia.loadBalancers.insert({
    ...fresh,
    name: about.name,
    description: (values['description'] as string | null | undefined) ?? '',
    ...makeVip(octavia, fresh.id, projectId, provider, plan, additional),
    vip_qos_policy_id: (values['vip_qos_policy_id'] as string | null | undefined) ?? null,
    provider,
    flavor_id: flavorId,
    availability_zone: zone,
  });
  if (lb.vip_qos_policy_id) network.setPortQosPolicy(lb.vip_port_id, lb.vip_qos_policy_id);
  const touched = insertGraph(octavia, lb, values);
  octavia.begin(lb, 'create', touched);
  return { lb, graph: viewGraph(octavia, lb) };
}

function viewLoadBalancer({ listeners, pools }: Octavia, row: Readonly<LoadBalancerRow>): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    admin_state_up: row.admin_state_up,
    project_id: row.project_id,
    ...times(row),
    vip_address: row.vip_address,
    vip_port_id: row.vip_port_id,
    vip_subnet_id: row.vip_subnet_id,
    vip_network_id: row.vip_network_id,
    additional_vips: row.additional_vips ?? [],
    listeners: idsOf(listeners.by('loadBalancer', row.id)),
    pools: idsOf(pools.by('loadBalancer', row.id)),
    provider: row.provider,
    flavor_id: row.flavor_id,
    vip_qos_policy_id: row.vip_qos_policy_id ?? null,
    tags: row.tags,
    availability_zone: row.availability_zone,
    tenant_id: row.project_id,
  };
}

function withoutParts({ listeners: _listeners, pools: _pools, ...view }: Record<string, unknown>): object {
  return view;
}

function checkQos({ core }: Octavia, values: Values, caller: Caller): void {
  const policy = values['vip_qos_policy_id'] as string | null | undefined;
  if (policy && !core.services.network.canUseQosPolicy(policy, caller)) throw noSuch('qos_policy', policy);
}

function changesOf(values: Values): Partial<LoadBalancerRow> {
  const empty: Readonly<Record<string, unknown>> = { name: '', description: '', admin_state_up: false, tags: [] };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? (empty[name] ?? null) : value]),
  );
}
