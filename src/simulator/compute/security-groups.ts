import type { Policy } from '../core/caller.ts';
import { policiesOf } from '../core/caller.ts';
import type { SecurityGroupView, SecurityRuleView } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';

/** Last microversion with nova's own security groups. Later clients use neutron. */
const until = 35;

const text = { type: 'string', minLength: 1, maxLength: 255 };

const groupSchema = wrappedIn('security_group', {
  type: 'object',
  properties: { name: text, description: { type: ['string', 'null'], maxLength: 255 } },
  required: ['name'],
});

const port = { type: ['integer', 'string', 'null'], pattern: '^-?[0-9]+$' };

const ruleSchema = wrappedIn('security_group_rule', {
  type: 'object',
  properties: {
    parent_group_id: { type: 'string' },
    ip_protocol: { type: ['string', 'null'] },
    from_port: port,
    to_port: port,
    cidr: { type: ['string', 'null'] },
    group_id: { type: ['string', 'null'] },
  },
  required: ['parent_group_id'],
});

/** Routes of nova's deprecated security group API, backed by neutron. */
export function securityGroupRoutes(compute: Compute): Route[] {
  const network = (): Compute['core']['services']['network'] => compute.core.services.network;
  const policy = policiesOf('os_compute_api:os-security-groups');
  const find = (context: RequestContext, id: string): SecurityGroupView => {
    const group = network()
      .securityGroups(context.project)
      .find((each) => each.id === id);
    if (!group) throw notFound(`Security group ${id} not found.`);
    return group;
  };
  const rules = '/v2.1/os-security-group-rules';
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('get', 'reader'),
    create: policy('create', 'member'),
    show: policy('show', 'reader'),
    update: policy('update', 'member'),
    delete: policy('delete', 'member'),
  };
  const readGroup = ({ json }: RequestContext): { name: string; description?: string | null } => {
    checkBody(groupSchema, json);
    return (json as { security_group: { name: string; description?: string | null } }).security_group;
  };
  return [
    ...resourceRoutes<SecurityGroupView>({
      path: '/v2.1/os-security-groups',
      name: 'security_group',
      statuses: { create: 200, delete: 202 },
      policy: (operation) => policies[operation],
      versions: () => ({ until }),
      find: (context) => find(context, context.param('id')),
      view: renderGroup,
      list: (context) => ({
        status: 200,
        body: { security_groups: network().securityGroups(context.project).map(renderGroup) },
      }),
      create(context) {
        const { name, description } = readGroup(context);
        const projectId = context.project;
        return find(context, network().createSecurityGroup({ projectId, name, description: description ?? '' }).id);
      },
      update(context) {
        const { name, description } = readGroup(context);
        const { id } = find(context, context.param('id'));
        network().changeSecurityGroup(id, { name, ...(typeof description === 'string' && { description }) });
        return find(context, id);
      },
      delete({ id }) {
        if (network().isSecurityGroupUsed(id)) throw badRequest(`Security Group ${id} in use.`);
        network().deleteSecurityGroup(id);
      },
    }),
    {
      method: 'POST',
      path: rules,
      until,
      policy: policy('rule:create', 'member'),
      handle: (context) => {
        checkBody(ruleSchema, context.json);
        const fields = (context.json as { security_group_rule: Readonly<Record<string, string | number | null>> })
          .security_group_rule;
        const group = find(context, String(fields['parent_group_id']));
        const number = (name: string): number | undefined =>
          fields[name] === undefined || fields[name] === null ? undefined : Number(fields[name]);
        const remote = typeof fields['group_id'] === 'string' ? fields['group_id'] : undefined;
        if (remote !== undefined) find(context, remote);
        const made = network().addIngressRule(group.id, {
          protocol: typeof fields['ip_protocol'] === 'string' ? fields['ip_protocol'].toLowerCase() : null,
          from: number('from_port'),
          to: number('to_port'),
          cidr: remote === undefined ? String(fields['cidr'] ?? '0.0.0.0/0') : undefined,
          remoteGroupId: remote,
        });
        if (!made) throw badRequest(`This rule already exists in group ${group.id}`);
        return { status: 200, body: { security_group_rule: renderRule(group, made) } };
      },
    },
    {
      method: 'DELETE',
      path: `${rules}/{rule}`,
      until,
      policy: policy('rule:delete', 'member'),
      handle: (context) => {
        const id = context.param('rule');
        const isMine = network()
          .securityGroups(context.project)
          .some((group) => group.rules.some((rule) => rule.id === id));
        if (!isMine) throw notFound(`Security group rule ${id} does not exist`);
        network().deleteSecurityGroupRule(id);
        return { status: 202 };
      },
    },
  ];
}

function renderGroup(group: SecurityGroupView): object {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    tenant_id: group.projectId,
    rules: group.rules.filter(({ isIngress }) => isIngress).map((rule) => renderRule(group, rule)),
  };
}

function renderRule(group: SecurityGroupView, rule: SecurityRuleView): object {
  const isOpen = rule.remoteGroupName === undefined;
  return {
    id: rule.id,
    parent_group_id: group.id,
    ip_protocol: rule.protocol,
    from_port: rule.from ?? (rule.protocol === null ? null : -1),
    to_port: rule.to ?? (rule.protocol === null ? null : -1),
    ip_range: isOpen ? { cidr: rule.cidr ?? (rule.isIpv6 ? '::/0' : '0.0.0.0/0') } : {},
    group: isOpen ? {} : { name: rule.remoteGroupName, tenant_id: group.projectId },
  };
}
