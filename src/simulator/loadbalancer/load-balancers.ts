import type { Caller } from '../core/caller.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite, isOperator } from './access.ts';
import { type Attributes, changedColumns, filtersOf, newColumns, updateShape, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Shape, Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { findFlavor, findZone } from './flavors.ts';
import { graphAttributes, insertGraph, viewGraph } from './graph.ts';
import { isTrue, listAnswer } from './listing.ts';
import { idsOf, type Octavia, partsOf } from './octavia.ts';
import { providers } from './providers.ts';
import { checkQuota } from './quotas.ts';
import { forbidden, invalid, noSuch, overQuota } from './refusals.ts';
import { octaviaRoutes } from './resource.ts';
import type { LoadBalancerRow } from './rows.ts';
import { noStats } from './statistics.ts';
import { statusTree } from './status-tree.ts';
import { makeVip, planAdditional, planVip } from './vip.ts';

const additionalShape: Shape = {
  subnet_id: { read: fields.uuid, mandatory: true },
  ip_address: { read: fields.ip },
};

const attributes: Attributes = {
  name: { read: fields.text(255), empty: '' },
  description: { read: fields.text(255), empty: '' },
  admin_state_up: { read: fields.boolean, default: true, empty: false },
  vip_address: { read: fields.ip, fixed: true, filter: true },
  vip_port_id: { read: fields.uuid, fixed: true, filter: true },
  vip_subnet_id: { read: fields.uuid, fixed: true, filter: true },
  vip_network_id: { read: fields.uuid, fixed: true, filter: true },
  vip_qos_policy_id: { read: fields.uuid },
  additional_vips: { read: fields.list(fields.nested(additionalShape)), default: [], fixed: true },
  project_id: { read: fields.text(36), fixed: true, column: 'none' },
  ...graphAttributes,
  provider: { read: fields.text(64), fixed: true, filter: true },
  tags: { read: fields.tags, empty: [] },
  flavor_id: { read: fields.uuid, fixed: true, filter: true },
  availability_zone: { read: fields.text(255), fixed: true, filter: true },
};

export function loadBalancerRoutes(octavia: Octavia, base: string): Route[] {
  const { loadBalancers, listeners, pools } = octavia;
  const path = 'loadbalancers';
  const view = (row: Readonly<LoadBalancerRow>): Record<string, unknown> => viewLoadBalancer(octavia, row);
  const listed = { collection: path, table: loadBalancers, filters: filtersOf(attributes), view };
  const find = (context: RequestContext): Readonly<LoadBalancerRow> =>
    findRow(loadBalancers, 'Load Balancer', context.param('id'));
  const below = (name: string, body: (row: Readonly<LoadBalancerRow>) => object): Route => ({
    method: 'GET',
    path: `${base}/${path}/{id}/${name}`,
    handle(context): Answer {
      const row = find(context);
      checkRead(context.caller, row.project_id);
      return { status: 200, body: body(row) };
    },
  });
  const statuses = (row: Readonly<LoadBalancerRow>): object => ({
    statuses: { loadbalancer: statusTree(octavia, row) },
  });
  return [
    ...octaviaRoutes<LoadBalancerRow>(base, {
      path,
      name: 'loadbalancer',
      argument: 'load_balancer',
      createShape: attributes,
      updateShape: updateShape(attributes, ['name', 'description', 'vip_qos_policy_id', 'admin_state_up', 'tags']),
      find,
      projectOf: (row) => row.project_id,
      view: (row, operation) => (operation === 'create' ? { ...view(row), ...viewGraph(octavia, row) } : view(row)),
      list(context) {
        const [name, ...more] = context.query.all('name');
        const candidates = name && more.length === 0 ? loadBalancers.by('name', name.toLowerCase()) : undefined;
        return listAnswer(context, listed, candidates);
      },
      create: (values, { caller }) => create(octavia, values, caller),
      update(row, values, { caller }) {
        checkQos(octavia, values, caller);
        octavia.lockItself(row.id, 'update');
        const changed = loadBalancers.update(row.id, changedColumns<LoadBalancerRow>(attributes, values));
        if ('vip_qos_policy_id' in values) {
          octavia.core.services.network.setPortQosPolicy(row.vip_port_id, changed.vip_qos_policy_id ?? null);
        }
        octavia.begin(changed, 'update');
        return changed;
      },
      delete({ id }, { query }) {
        const hasParts = listeners.count('loadBalancer', id) > 0 || pools.count('loadBalancer', id) > 0;
        if (hasParts && !isTrue(query.get('cascade'))) {
          throw invalid(`Cannot delete Load Balancer ${id} - it has children`);
        }
        octavia.begin(octavia.lockItself(id, 'delete'), 'delete');
      },
    }),
    below('status', statuses),
    below('statuses', statuses),
    below('stats', () => ({ stats: noStats })),
    {
      method: 'PUT',
      path: `${base}/${path}/{id}/failover`,
      handle(context): Answer {
        const row = find(context);
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

function create(octavia: Octavia, values: Values, caller: Caller): Readonly<LoadBalancerRow> {
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
    ...newColumns<LoadBalancerRow>(attributes, values),
    ...makeVip(octavia, { id: fresh.id, projectId, provider, plan, additional }),
    provider,
  });
  if (lb.vip_qos_policy_id) network.setPortQosPolicy(lb.vip_port_id, lb.vip_qos_policy_id);
  const touched = insertGraph(octavia, lb, values);
  octavia.begin(lb, 'create', touched);
  return lb;
}

function viewLoadBalancer({ listeners, pools }: Octavia, row: Readonly<LoadBalancerRow>): Record<string, unknown> {
  return {
    ...viewColumns(attributes, row),
    // Absent in data of earlier versions.
    additional_vips: row.additional_vips ?? [],
    vip_qos_policy_id: row.vip_qos_policy_id ?? null,
    listeners: idsOf(listeners.by('loadBalancer', row.id)),
    pools: idsOf(pools.by('loadBalancer', row.id)),
  };
}

function checkQos({ core }: Octavia, values: Values, caller: Caller): void {
  const policy = values['vip_qos_policy_id'] as string | null | undefined;
  if (policy && !core.services.network.canUseQosPolicy(policy, caller)) throw noSuch('qos_policy', policy);
}
