import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, checkWrite } from './access.ts';
import * as fields from './body/fields.ts';
import { readBody, type Shape, type Values } from './body/shape.ts';
import { type Listed, listAnswer, pick } from './listing.ts';
import { idsOf, type Octavia, type Touched, times } from './octavia.ts';
import { checkQuota } from './quotas.ts';
import { asPage, notFound } from './refusals.ts';
import type { L7PolicyRow, L7RuleRow, ListenerRow, LoadBalancerRow } from './rows.ts';

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

const changeable: Shape = {
  name: { read: fields.text(255) },
  description: { read: fields.text(255) },
  redirect_pool_id: { read: fields.uuid },
  redirect_url: { read: fields.url },
  redirect_prefix: { read: fields.url },
  position: { read: fields.integer(1, lastPosition) },
  tags: { read: fields.tags },
  redirect_http_code: { read: fields.oneOf([301, 302, 303, 307, 308]) },
};

const createShape: Shape = {
  admin_state_up: { read: fields.boolean, default: true },
  project_id: { read: fields.text(36) },
  action: { read: fields.oneOf(actions), mandatory: true },
  ...changeable,
  listener_id: { read: fields.uuid, mandatory: true },
  rules: { read: fields.list((value) => value) },
};

const updateShape: Shape = {
  ...changeable,
  admin_state_up: { read: fields.boolean },
  action: { read: fields.oneOf(actions) },
};

const ruleShape: Shape = {
  type: { read: fields.oneOf(ruleTypes), mandatory: true },
  compare_type: { read: fields.oneOf(compareTypes), mandatory: true },
  key: { read: fields.text(255) },
  value: { read: fields.text(255), mandatory: true },
  invert: { read: fields.boolean, default: false },
  admin_state_up: { read: fields.boolean, default: true },
  project_id: { read: fields.text(36) },
  tags: { read: fields.tags },
};

const ruleUpdateShape: Shape = {
  type: { read: fields.oneOf(ruleTypes) },
  compare_type: { read: fields.oneOf(compareTypes) },
  key: { read: fields.text(255) },
  value: { read: fields.text(255) },
  invert: { read: fields.boolean },
  admin_state_up: { read: fields.boolean },
  tags: { read: fields.tags },
};

const policyFilters = ['action', 'listener_id', 'redirect_pool_id', 'redirect_url', 'redirect_prefix', 'position'];
const ruleFilters = ['type', 'compare_type', 'key', 'value', 'invert'];

/** Policies and rules on layer 7. */
export function layerSevenRoutes(octavia: Octavia, base: string): Route[] {
  return [...policyRoutes(octavia, `${base}/l7policies`), ...ruleRoutes(octavia, `${base}/l7policies/{policy}/rules`)];
}

function policyRoutes(octavia: Octavia, path: string): Route[] {
  const { policies, listeners } = octavia;
  const view = (row: Readonly<L7PolicyRow>): Record<string, unknown> => viewPolicy(octavia, row);
  const listed: Listed<L7PolicyRow> = { collection: 'l7policies', table: policies, filters: policyFilters, view };
  return [
    { method: 'GET', path, handle: (context): Answer => listAnswer(context, listed) },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const values = readBody(context, { argument: 'l7policy_', wrapper: 'l7policy', shape: createShape });
        const id = values['listener_id'] as string;
        const listener = listeners.get(id);
        if (!listener) throw notFound('Listener', id);
        checkWrite(context.caller, listener.project_id);
        checkTarget(octavia, listener, values);
        checkQuota(octavia, listener.project_id, 'l7policy');
        const { lb, touched } = lockListener(octavia, listener);
        const made = insertPolicy(octavia, listener, values);
        octavia.begin(lb, 'update', [...touched, { table: 'policies', id: made.id }]);
        return { status: 201, body: { l7policy: view(policies.get(made.id)!) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = findPolicy(octavia, context.param('id'));
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { l7policy: pick(view(row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument: 'l7policy_', wrapper: 'l7policy', shape: updateShape });
        const row = findPolicy(octavia, context.param('id'));
        checkWrite(context.caller, row.project_id);
        const listener = listeners.get(row.listener_id)!;
        checkTarget(octavia, listener, { ...row, ...values });
        const policy: Touched = { table: 'policies', id: row.id };
        const { lb, touched } = lockListener(octavia, listener);
        octavia.mark(policy, 'PENDING_UPDATE');
        const { position, ...changes } = cleared(values);
        policies.update(row.id, { ...changes, ...targetsLeft(values['action'] as string | undefined) });
        if (position !== undefined && position !== row.position) {
          placePolicy(octavia, listener.id, row.id, position as number);
        }
        octavia.begin(lb, 'update', [...touched, policy]);
        return { status: 200, body: { l7policy: view(policies.get(row.id)!) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = findPolicy(octavia, context.param('id'));
        checkWrite(context.caller, row.project_id);
        const policy: Touched = { table: 'policies', id: row.id };
        const { lb, touched } = lockListener(octavia, listeners.get(row.listener_id)!);
        octavia.mark(policy, 'PENDING_DELETE');
        octavia.begin(lb, 'update', [...touched, policy]);
        return { status: 204 };
      },
    },
  ];
}

function ruleRoutes(octavia: Octavia, path: string): Route[] {
  const { policies, rules, listeners } = octavia;
  const listed: Listed<L7RuleRow> = { collection: 'rules', table: rules, filters: ruleFilters, view: viewRule };
  const policyOf = (context: RequestContext): Readonly<L7PolicyRow> => {
    const id = context.param('policy');
    const policy = policies.get(id);
    if (!policy) throw asPage(404, `L7 Policy ${id} not found.`);
    return policy;
  };
  const find = (context: RequestContext): Readonly<L7RuleRow> => {
    const policy = policyOf(context);
    const id = context.param('id');
    const row = rules.get(id);
    if (!row || row.l7policy_id !== policy.id) throw notFound('L7 Rule', id);
    return row;
  };
  const begin = (policy: Readonly<L7PolicyRow>, change: () => Touched): void => {
    const { lb, touched } = lockListener(octavia, listeners.get(policy.listener_id)!);
    const parent: Touched = { table: 'policies', id: policy.id };
    octavia.mark(parent, 'PENDING_UPDATE');
    octavia.begin(lb, 'update', [...touched, parent, change()]);
  };
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        const policy = policyOf(context);
        checkRead(context.caller, policy.project_id);
        return listAnswer(context, listed, rules.by('policy', policy.id));
      },
    },
    {
      method: 'POST',
      path,
      handle(context): Answer {
        const policy = policyOf(context);
        const values = readBody(context, { argument: 'rule_', wrapper: 'rule', shape: ruleShape });
        checkWrite(context.caller, policy.project_id);
        checkRule(values);
        checkQuota(octavia, policy.project_id, 'l7rule');
        let made: Readonly<L7RuleRow> | undefined;
        begin(policy, () => {
          made = insertRule(octavia, policy, values);
          return { table: 'rules', id: made.id };
        });
        return { status: 201, body: { rule: viewRule(made!) } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context);
        checkRead(context.caller, row.project_id);
        return { status: 200, body: { rule: pick(viewRule(row), context) } };
      },
    },
    {
      method: 'PUT',
      path: `${path}/{id}`,
      handle(context): Answer {
        const values = readBody(context, { argument: 'rule_', wrapper: 'rule', shape: ruleUpdateShape });
        const row = find(context);
        checkWrite(context.caller, row.project_id);
        checkRule({ ...row, ...values });
        begin(policyOf(context), () => {
          octavia.mark({ table: 'rules', id: row.id }, 'PENDING_UPDATE');
          rules.update(row.id, cleared(values));
          return { table: 'rules', id: row.id };
        });
        return { status: 200, body: { rule: viewRule(rules.get(row.id)!) } };
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      handle(context): Answer {
        const row = find(context);
        checkWrite(context.caller, row.project_id);
        begin(policyOf(context), () => {
          octavia.mark({ table: 'rules', id: row.id }, 'PENDING_DELETE');
          return { table: 'rules', id: row.id };
        });
        return { status: 204 };
      },
    },
  ];
}

function findPolicy({ policies }: Octavia, id: string): Readonly<L7PolicyRow> {
  const row = policies.get(id);
  if (!row) throw notFound('L7 Policy', id);
  return row;
}

function lockListener(
  octavia: Octavia,
  listener: Readonly<ListenerRow>,
): { lb: Readonly<LoadBalancerRow>; touched: Touched[] } {
  const touched: Touched[] = [{ table: 'listeners', id: listener.id }];
  return { lb: octavia.lock(listener.loadbalancer_id, touched), touched };
}

/** Makes a policy at its position among those of its listener; the load balancer is locked already. */
export function insertPolicy(octavia: Octavia, listener: Readonly<ListenerRow>, values: Values): Readonly<L7PolicyRow> {
  const text = (name: string): string | null => (values[name] as string | null | undefined) ?? null;
  const action = values['action'] as string;
  const isRedirect = action === 'REDIRECT_TO_URL' || action === 'REDIRECT_PREFIX';
  const made = octavia.policies.insert({
    ...octavia.fresh(values, listener.project_id),
    listener_id: listener.id,
    name: text('name') ?? '',
    description: text('description') ?? '',
    action,
    redirect_pool_id: text('redirect_pool_id'),
    redirect_url: text('redirect_url'),
    redirect_prefix: text('redirect_prefix'),
    redirect_http_code: (values['redirect_http_code'] as number | null | undefined) ?? (isRedirect ? 302 : null),
    position: lastPosition,
  });
  placePolicy(octavia, listener.id, made.id, (values['position'] as number | null | undefined) ?? lastPosition);
  return octavia.policies.get(made.id)!;
}

/** Puts a policy where it is to be looked at; the others of its listener make room and are counted anew. */
function placePolicy({ policies }: Octavia, listenerId: string, id: string, position: number): void {
  const others = inOrder(policies.by('listener', listenerId)).filter((policy) => policy.id !== id);
  const at = Math.min(position - 1, others.length);
  number(policies, [...others.slice(0, at), policies.get(id)!, ...others.slice(at)]);
}

/** Closes the gap a policy has left. */
export function closeRanks({ policies }: Octavia, listenerId: string): void {
  number(policies, inOrder(policies.by('listener', listenerId)));
}

function inOrder(rows: Iterable<Readonly<L7PolicyRow>>): Readonly<L7PolicyRow>[] {
  return [...rows].sort((a, b) => a.position - b.position);
}

function number(policies: Octavia['policies'], ordered: readonly Readonly<L7PolicyRow>[]): void {
  ordered.forEach(({ id, position }, index) => {
    if (position !== index + 1) policies.update(id, { position: index + 1 });
  });
}

/** Another action forgets where the one before led. */
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

/** A policy in the body of its load balancer; a pool it leads to is read by whoever reads the whole. */
export const wholePolicyShape: Shape = {
  admin_state_up: { read: fields.boolean, default: true },
  action: { read: fields.oneOf(actions), mandatory: true },
  ...changeable,
  rules: { read: fields.list(fields.nested(ruleShape)) },
};

/** Makes a policy with its rules, for a listener that is new itself. */
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

/** Policies of a listener with their rules, as the creation of a whole load balancer shows them. */
export function viewWholePolicies(octavia: Octavia, listenerId: string): object[] {
  return inOrder(octavia.policies.by('listener', listenerId)).map((policy) => ({
    ...viewPolicy(octavia, policy),
    rules: Array.from(octavia.rules.by('policy', policy.id), viewRule),
  }));
}

function insertRule(octavia: Octavia, policy: Readonly<L7PolicyRow>, values: Values): Readonly<L7RuleRow> {
  return octavia.rules.insert({
    ...octavia.fresh(values, policy.project_id),
    l7policy_id: policy.id,
    type: values['type'] as string,
    compare_type: values['compare_type'] as string,
    key: (values['key'] as string | null | undefined) ?? null,
    value: values['value'] as string,
    invert: (values['invert'] as boolean | null | undefined) ?? false,
  });
}

/** What an action needs to know to act. */
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
  const needsKey = keyedTypes.has(type!);
  if (needsKey === Boolean(key)) return;
  const reason = needsKey ? 'L7 rule type requires a key' : 'L7 rule type does not use a key';
  throw new Refusal(400, `Error parsing L7Rule: Invalid L7 Rule: ${reason}`);
}

function viewPolicy({ rules }: Octavia, row: Readonly<L7PolicyRow>): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    admin_state_up: row.admin_state_up,
    project_id: row.project_id,
    action: row.action,
    listener_id: row.listener_id,
    redirect_pool_id: row.redirect_pool_id,
    redirect_url: row.redirect_url,
    redirect_prefix: row.redirect_prefix,
    position: row.position,
    rules: idsOf(rules.by('policy', row.id)),
    ...times(row),
    tags: row.tags,
    redirect_http_code: row.redirect_http_code,
    tenant_id: row.project_id,
  };
}

function viewRule(row: Readonly<L7RuleRow>): Record<string, unknown> {
  return {
    id: row.id,
    type: row.type,
    compare_type: row.compare_type,
    key: row.key,
    value: row.value,
    invert: row.invert,
    provisioning_status: row.provisioning_status,
    operating_status: row.operating_status,
    ...times(row),
    project_id: row.project_id,
    admin_state_up: row.admin_state_up,
    tags: row.tags,
    tenant_id: row.project_id,
  };
}

function cleared(values: Values): Values {
  const empty: Readonly<Record<string, unknown>> = {
    name: '',
    description: '',
    admin_state_up: false,
    invert: false,
    tags: [],
    position: lastPosition,
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? (empty[name] ?? null) : value]),
  );
}
