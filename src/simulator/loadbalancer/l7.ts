import { must } from '../../machinery/index.ts';
import { Refusal } from '../core/refusal.ts';
import type { Route } from '../core/service.ts';
import { type Attribute, type Attributes, changedColumns, newColumns, updateShape, viewColumns } from './attributes.ts';
import * as fields from './body/fields.ts';
import type { Shape, Values } from './body/shape.ts';
import { findRow } from './find.ts';
import { idsOf, type Locked, type Octavia, type Touched } from './octavia.ts';
import { type Inside, parentIn, partRoutes } from './parts.ts';
import { inOrder, number } from './policy-order.ts';
import { checkQuota } from './quotas.ts';
import { notFound } from './refusals.ts';
import type { L7PolicyRow, L7RuleRow, ListenerRow } from './rows.ts';

const actions = ['REDIRECT_TO_URL', 'REDIRECT_TO_POOL', 'REJECT', 'REDIRECT_PREFIX'];
const ruleTypes = [
  'HOST_NAME',
  'PATH',
  'FILE_TYPE',
  'HEADER',
  'COOKIE',
  'SSL_CONN_HAS_CERT',
  'SSL_VERIFY_RESULT',
  'SSL_DN_FIELD',
];
const compareTypes = ['REGEX', 'STARTS_WITH', 'ENDS_WITH', 'CONTAINS', 'EQUAL_TO'];
const keyedTypes = new Set(['HEADER', 'COOKIE', 'SSL_DN_FIELD']);
const lastPosition = 2_147_483_647;

const changeable: Attributes = {
  name: { read: fields.text(255), empty: '' },
  description: { read: fields.text(255), empty: '' },
  redirect_pool_id: { read: fields.uuid, filter: true },
  redirect_url: { read: fields.url, filter: true },
  redirect_prefix: { read: fields.url, filter: true },
  position: { read: fields.integer(1, lastPosition), empty: lastPosition, filter: true },
  tags: { read: fields.tags, empty: [] },
  redirect_http_code: { read: fields.oneOf([301, 302, 303, 307, 308]) },
};

const admin_state_up: Attribute = { read: fields.boolean, default: true, empty: false };
const project_id: Attribute = { read: fields.text(36), fixed: true, column: 'none' };
const action: Attribute = { read: fields.oneOf(actions), mandatory: true, filter: true };

const policyAttributes: Attributes = {
  admin_state_up,
  project_id,
  action,
  ...changeable,
  listener_id: { read: fields.uuid, mandatory: true, fixed: true, filter: true },
  rules: { read: fields.list((value) => value), fixed: true, column: 'none' },
};

const ruleAttributes: Attributes = {
  type: { read: fields.oneOf(ruleTypes), mandatory: true, filter: true },
  compare_type: { read: fields.oneOf(compareTypes), mandatory: true, filter: true },
  key: { read: fields.text(255), filter: true },
  value: { read: fields.text(255), mandatory: true, filter: true },
  invert: { read: fields.boolean, default: false, empty: false, filter: true },
  admin_state_up,
  project_id,
  tags: { read: fields.tags, empty: [] },
};

export function layerSevenRoutes(octavia: Octavia, base: string): Route[] {
  return [...policyRoutes(octavia, base), ...ruleRoutes(octavia, base)];
}

function policyRoutes(octavia: Octavia, base: string): Route[] {
  const { policies, listeners } = octavia;
  return partRoutes<L7PolicyRow, ListenerRow>(octavia, base, {
    path: 'l7policies',
    name: 'l7policy',
    collection: 'l7policies',
    argument: 'l7policy_',
    thing: 'L7 Policy',
    quota: 'l7policy',
    part: 'policies',
    table: policies,
    attributes: policyAttributes,
    updateShape: updateShape({ ...changeable, admin_state_up, action }),
    view: (row) => viewPolicy(octavia, row),
    parentOf: (values) => findRow(listeners, 'Listener', values['listener_id'] as string),
    checkNew: (values, listener) => checkTarget(octavia, listener, values),
    lockNew: (listener) => lockListener(octavia, listener.id),
    insert: (listener, values) => insertPolicy(octavia, listener, values),
    checkUpdate: (row, values) => checkTarget(octavia, listeners.known(row.listener_id), { ...row, ...values }),
    lock: (row) => lockListener(octavia, row.listener_id),
    update(row, values) {
      const { position, ...changes } = changedColumns<L7PolicyRow>(policyAttributes, values);
      const changed = policies.update(row.id, { ...changes, ...targetsLeft(values['action'] as string | undefined) });
      if (position !== undefined && position !== row.position) {
        placePolicy(octavia, row.listener_id, row.id, position);
      }
      return changed;
    },
  });
}

function ruleRoutes(octavia: Octavia, base: string): Route[] {
  const { policies, rules } = octavia;
  const inside: Inside<L7RuleRow, L7PolicyRow> = {
    parameter: 'policy',
    parents: policies,
    thing: 'L7 Policy',
    index: 'policy',
    parentId: (row) => row.l7policy_id,
  };
  const lock = ({ id, listener_id }: Readonly<L7PolicyRow>): Locked =>
    lockListener(octavia, listener_id, [{ table: 'policies', id }]);
  return partRoutes<L7RuleRow, L7PolicyRow>(octavia, base, {
    path: 'l7policies/{policy}/rules',
    name: 'rule',
    collection: 'rules',
    argument: 'rule_',
    thing: 'L7 Rule',
    quota: 'l7rule',
    part: 'rules',
    table: rules,
    attributes: ruleAttributes,
    inside,
    view: viewRule,
    parentOf: (_values, context) => parentIn(inside, context),
    checkNew: checkRule,
    lockNew: lock,
    insert: (policy, values) => insertRule(octavia, policy, values),
    checkUpdate: (row, values) => checkRule({ ...row, ...values }),
    lock: (row) => lock(policies.known(row.l7policy_id)),
  });
}

/** Locks the load balancer of a listener for a change below the listener. */
function lockListener(octavia: Octavia, id: string, below: readonly Touched[] = []): Locked {
  const { loadbalancer_id } = octavia.listeners.known(id);
  return octavia.lock(loadbalancer_id, [{ table: 'listeners', id }, ...below]);
}

/** Inserts a policy at its position in the listener. The load balancer must already be locked. */
export function insertPolicy(octavia: Octavia, listener: Readonly<ListenerRow>, values: Values): Readonly<L7PolicyRow> {
  const isRedirect = values['action'] === 'REDIRECT_TO_URL' || values['action'] === 'REDIRECT_PREFIX';
  const columns = newColumns<L7PolicyRow>(policyAttributes, values);
  const made = octavia.policies.insert({
    ...octavia.fresh(values, listener.project_id),
    ...columns,
    listener_id: listener.id,
    redirect_http_code: columns.redirect_http_code ?? (isRedirect ? 302 : null),
    position: lastPosition,
  });
  placePolicy(octavia, listener.id, made.id, columns.position);
  return made;
}

/** Moves a policy to its position. The other policies of the listener are renumbered. */
function placePolicy({ policies }: Octavia, listenerId: string, id: string, position: number): void {
  const others = inOrder(policies.by('listener', listenerId)).filter((policy) => policy.id !== id);
  const at = Math.min(position - 1, others.length);
  number(policies, [...others.slice(0, at), policies.known(id), ...others.slice(at)]);
}

/** Clears the target of the previous action. */
function targetsLeft(action: string | undefined): Partial<L7PolicyRow> {
  const targets: Readonly<Record<string, keyof L7PolicyRow>> = {
    REDIRECT_TO_URL: 'redirect_url',
    REDIRECT_TO_POOL: 'redirect_pool_id',
    REDIRECT_PREFIX: 'redirect_prefix',
  };
  if (action === undefined) return {};
  const gone = Object.values(targets).filter((name) => name !== targets[action]);
  const hasCode = action === 'REDIRECT_TO_URL' || action === 'REDIRECT_PREFIX';
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...(!hasCode && { redirect_http_code: null }),
  };
}

/** A policy in the create request of a load balancer. The caller reads the pool it refers to. */
export const wholePolicyShape: Shape = {
  admin_state_up,
  action,
  ...changeable,
  rules: { read: fields.list(fields.nested(ruleAttributes)) },
};

/** Creates a policy with its rules for a new listener. */
export function insertWholePolicy(octavia: Octavia, listener: Readonly<ListenerRow>, values: Values): Touched[] {
  checkQuota(octavia, listener.project_id, 'l7policy');
  checkTarget(octavia, listener, values);
  const policy = insertPolicy(octavia, listener, values);
  const rules = (values['rules'] as Values[] | null | undefined) ?? [];
  checkQuota(octavia, listener.project_id, 'l7rule', rules.length);
  return [
    { table: 'policies', id: policy.id },
    ...rules.map((rule): Touched => {
      checkRule(rule);
      return { table: 'rules', id: insertRule(octavia, policy, rule).id };
    }),
  ];
}

/** Renders the policies of a listener with their rules, in the answer to the creation of a load balancer. */
export function viewWholePolicies(octavia: Octavia, listenerId: string): object[] {
  return inOrder(octavia.policies.by('listener', listenerId)).map((policy) => ({
    ...viewPolicy(octavia, policy),
    rules: Array.from(octavia.rules.by('policy', policy.id), viewRule),
  }));
}

function insertRule(octavia: Octavia, policy: Readonly<L7PolicyRow>, values: Values): Readonly<L7RuleRow> {
  return octavia.rules.insert({
    ...octavia.fresh(values, policy.project_id),
    ...newColumns<L7RuleRow>(ruleAttributes, values),
    l7policy_id: policy.id,
  });
}

/** Checks that the action has its target. */
function checkTarget({ pools }: Octavia, listener: Readonly<ListenerRow>, values: Values | L7PolicyRow): void {
  const {
    action,
    redirect_pool_id: poolId,
    redirect_url: url,
    redirect_prefix: prefix,
  } = values as Partial<L7PolicyRow>;
  const missing = (name: string): Error => new Refusal(400, `Invalid L7 Policy arguments: ${name} must not be None`);
  if (action === 'REDIRECT_TO_URL' && !url) throw missing('redirect_url');
  if (action === 'REDIRECT_PREFIX' && !prefix) throw missing('redirect_prefix');
  if (action === 'REDIRECT_TO_POOL' && !poolId) throw missing('redirect_pool_id');
  if (!poolId) return;
  const pool = pools.get(poolId);
  if (!pool || pool.loadbalancer_id !== listener.loadbalancer_id) throw notFound('Pool', poolId);
}

function checkRule(values: Values | L7RuleRow): void {
  const { type, key } = values as Partial<L7RuleRow>;
  const needsKey = keyedTypes.has(must(type, 'type'));
  if (needsKey === Boolean(key)) return;
  const reason = needsKey ? 'L7 rule type requires a key' : 'L7 rule type does not use a key';
  throw new Refusal(400, `Error parsing L7Rule: Invalid L7 Rule: ${reason}`);
}

function viewPolicy({ rules }: Octavia, row: Readonly<L7PolicyRow>): Record<string, unknown> {
  return { ...viewColumns(policyAttributes, row), rules: idsOf(rules.by('policy', row.id)) };
}

function viewRule(row: Readonly<L7RuleRow>): Record<string, unknown> {
  return viewColumns(ruleAttributes, row);
}
