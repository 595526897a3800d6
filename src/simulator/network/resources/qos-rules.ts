import type { RequestContext } from '../../core/http/context.ts';
import { type Resource, resourceRoutes } from '../../core/resource.ts';
import type { Answer, Route } from '../../core/service.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import { readCreateBody, readUpdateBody } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { toInteger } from '../attributes/converters.ts';
import type { Neutron } from '../neutron.ts';
import { disallowed, qosPolicyNotFound, refuse } from '../refusals.ts';
import type { QosPolicyRow, QosRuleRow } from '../rows.ts';
import { canUse } from './sharing.ts';

const maxInteger = 2 ** 31 - 1;

/** Valid DSCP marks. */
const marks = [0, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 46, 48, 56];

const amount = (rest: object): Attributes[string] => ({
  create: true,
  update: true,
  convert: toInteger,
  check: checks.range(0, maxInteger),
  filter: true,
  ...rest,
});
const direction = (choices: readonly string[]): Attributes[string] => ({
  create: true,
  update: true,
  default: 'egress',
  check: checks.oneOf(choices),
  filter: true,
});
const bothWays = direction(['egress', 'ingress']);

/** Attributes of each rule type. */
export const qosRuleTypes: Readonly<Record<string, Attributes>> = {
  bandwidth_limit: {
    max_kbps: amount({ required: true }),
    max_burst_kbps: amount({ default: 0 }),
    direction: bothWays,
  },
  dscp_marking: {
    dscp_mark: { create: true, update: true, required: true, convert: toInteger, check: checks.oneOf(marks) },
  },
  minimum_bandwidth: { min_kbps: amount({ required: true }), direction: bothWays },
  minimum_packet_rate: {
    min_kpps: amount({ required: true }),
    direction: direction(['egress', 'ingress', 'any']),
  },
  packet_rate_limit: {
    max_kpps: amount({ required: true }),
    max_burst_kpps: amount({ default: 0 }),
    direction: bothWays,
  },
};

export function qosRuleView({ id, values }: Readonly<QosRuleRow>): Record<string, unknown> {
  return { id, ...values };
}

/** Routes of rules below their policy, and of rules by alias. */
export function qosRuleRoutes(neutron: Neutron): Route[] {
  return Object.entries(qosRuleTypes).flatMap(([type, attributes]) => [
    ...rulesBelow(neutron, type, attributes),
    ...aliasOf(neutron, type, attributes),
  ]);
}

interface Shape {
  readonly name: string;
  readonly collection: string;
  readonly attributes: Attributes;
}

function shapeOf(type: string, attributes: Attributes): Shape {
  return {
    name: `${type}_rule`,
    collection: `${type}_rules`,
    attributes: { id: common.id, tenant_id: common.owner, ...attributes },
  };
}

function rulesBelow(neutron: Neutron, type: string, attributes: Attributes): Route[] {
  const { qosRules } = neutron;
  const shape = shapeOf(type, attributes);
  const rulesOf = (policy: Readonly<QosPolicyRow>): Readonly<QosRuleRow>[] =>
    [...qosRules.by('policy', policy.id)].filter((rule) => rule.type === type);
  const find = (context: RequestContext): Readonly<QosRuleRow> => {
    const policy = policyOf(neutron, context);
    const id = context.param('id');
    const rule = rulesOf(policy).find((each) => each.id === id);
    if (!rule) throw ruleNotFound(id, policy.id);
    return rule;
  };
  return resourceRoutes<QosRuleRow>({
    path: `/v2.0/qos/policies/{policy}/${shape.collection}`,
    ...ruleOperations(neutron, shape, type, find),
    list(context) {
      const rules = rulesOf(policyOf(neutron, context)).filter(({ values }) =>
        context.query.entries.every(([name, value]) => !(name in values) || String(values[name]) === value),
      );
      return { status: 200, body: { [shape.collection]: rules.map(qosRuleView) } };
    },
    create(context) {
      const [values = {}] = readCreateBody(context, shape).items;
      mustBeAdmin(context, `create_policy_${shape.name}`);
      const policy = policyOf(neutron, context);
      const { tenant_id: _owner, ...content } = values;
      refuseConflict(policy, rulesOf(policy), { type, content, own: undefined });
      refuseOpposite(policy, [...qosRules.by('policy', policy.id)], type, content);
      const { tags: _untagged, ...standard } = neutron.standard({ tenant_id: policy.tenant_id });
      const rule = qosRules.insert({ ...standard, qos_policy_id: policy.id, type, values: content });
      neutron.change(neutron.qosPolicies, policy, {});
      return rule;
    },
  });
}

/** Routes below `/qos/alias-bandwidth-limit-rules/{id}`, which need no policy id. */
function aliasOf(neutron: Neutron, type: string, attributes: Attributes): Route[] {
  const shape = shapeOf(type, attributes);
  const find = (context: RequestContext): Readonly<QosRuleRow> => {
    const id = context.param('id');
    const rule = neutron.qosRules.get(id);
    const policy = rule && neutron.qosPolicies.get(rule.qos_policy_id);
    if (rule?.type !== type || !policy || !canUse(neutron, policy, context.caller)) {
      throw ruleNotFound(id, 'None');
    }
    return rule;
  };
  return resourceRoutes<QosRuleRow>({
    path: `/v2.0/qos/alias-${shape.collection.replaceAll('_', '-')}`,
    ...ruleOperations(neutron, { ...shape, name: `alias_${shape.name}` }, type, find),
  });
}

/** Show, update and delete of an existing rule. */
function ruleOperations(
  neutron: Neutron,
  shape: Shape,
  type: string,
  find: (context: RequestContext) => Readonly<QosRuleRow>,
): Omit<Resource<QosRuleRow>, 'path'> {
  const { qosPolicies, qosRules } = neutron;
  return {
    name: shape.name,
    find,
    view: qosRuleView,
    update(context) {
      const values = readUpdateBody(context, shape);
      const rule = find(context);
      mustBeAdmin(context, `update_policy_${shape.name}`);
      const policy = qosPolicies.known(rule.qos_policy_id);
      const content = { ...rule.values, ...values };
      const others = [...qosRules.by('policy', policy.id)].filter(({ id }) => id !== rule.id);
      const alike = others.filter((each) => each.type === type);
      refuseConflict(policy, alike, { type, content, own: rule.id });
      refuseOpposite(policy, others, type, content);
      const changed = neutron.change(qosRules, rule, { values: content });
      neutron.change(qosPolicies, policy, {});
      return changed;
    },
    delete(rule, context) {
      mustBeAdmin(context, `delete_policy_${shape.name}`);
      qosRules.delete(rule.id);
      neutron.change(qosPolicies, qosPolicies.known(rule.qos_policy_id), {});
    },
  };
}

function policyOf(neutron: Neutron, context: RequestContext): Readonly<QosPolicyRow> {
  const id = context.param('policy');
  const policy = neutron.qosPolicies.get(id);
  if (!policy || !canUse(neutron, policy, context.caller)) throw qosPolicyNotFound(id);
  return policy;
}

function mustBeAdmin({ caller }: RequestContext, action: string): void {
  if (!caller.isAdmin) throw disallowed(`rule:${action}`);
}

function ruleNotFound(id: string, policyId: string): Error {
  return refuse(404, 'QosRuleNotFound', `QoS rule ${id} for policy ${policyId} could not be found.`);
}

/** A policy has one rule per type, or one per type and direction. */
function refuseConflict(
  policy: Readonly<QosPolicyRow>,
  rules: readonly Readonly<QosRuleRow>[],
  { type, content, own }: { type: string; content: Values; own: string | undefined },
): void {
  for (const { id, values } of rules) {
    const isApart = 'direction' in content && values['direction'] !== content['direction'];
    if (id === own || isApart) continue;
    const message = `Rule ${type} conflicts with rule ${id} which already exists in QoS Policy ${policy.id}.`;
    throw refuse(409, 'QoSRulesConflict', message);
  }
}

/** The guaranteed minimum must not exceed the maximum. */
function refuseOpposite(
  policy: Readonly<QosPolicyRow>,
  rules: readonly Readonly<QosRuleRow>[],
  type: string,
  content: Values,
): void {
  const opposites: Readonly<Record<string, readonly [own: string, other: string, field: string]>> = {
    bandwidth_limit: ['max_kbps', 'minimum_bandwidth', 'min_kbps'],
    minimum_bandwidth: ['min_kbps', 'bandwidth_limit', 'max_kbps'],
    packet_rate_limit: ['max_kpps', 'minimum_packet_rate', 'min_kpps'],
    minimum_packet_rate: ['min_kpps', 'packet_rate_limit', 'max_kpps'],
  };
  const [own, other, field] = opposites[type] ?? [];
  if (own === undefined || other === undefined || field === undefined) return;
  for (const rule of rules) {
    if (rule.type !== other || rule.values['direction'] !== content['direction']) continue;
    const [mine, theirs] = [content[own] as number, rule.values[field] as number];
    if (own.startsWith('max') ? mine >= theirs : mine <= theirs) continue;
    const message = `Unable to add the rule with value ${mine} to the policy ${policy.id} as the existing rule of type ${other} has value ${theirs}.`;
    throw refuse(409, 'QoSRuleParameterConflict', message);
  }
}

/** Routes of rule types. Operators also see their drivers. */
export function qosRuleTypeRoutes(): Route[] {
  const drivers = [{ name: 'simulated', supported_parameters: [] }];
  return [
    {
      method: 'GET',
      path: '/v2.0/qos/rule-types',
      handle: (): Answer => ({
        status: 200,
        body: { rule_types: Object.keys(qosRuleTypes).map((type) => ({ type })) },
      }),
    },
    {
      method: 'GET',
      path: '/v2.0/qos/rule-types/{type}',
      handle(context): Answer {
        const type = context.param('type');
        if (!context.caller.isAdmin) throw disallowed('rule:get_rule_type');
        if (!Object.hasOwn(qosRuleTypes, type)) {
          throw refuse(400, 'InvalidInput', `Invalid input for operation: rule type ${type} is unknown.`);
        }
        return { status: 200, body: { rule_type: { type, drivers } } };
      },
    },
  ];
}
