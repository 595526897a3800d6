import type { JsonObject } from '../../machinery/index.ts';
import { filterQuery, segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Deletable, deleteAt } from '../resource/collection.ts';
import { type ListOptions, pages } from '../resource/pages.ts';
import { numberIf, text, textIf, textOrEmpty } from '../resource/read.ts';

export type RuleDirection = 'ingress' | 'egress';

export interface SecurityGroupRule {
  readonly id: string;
  readonly securityGroupId: string;
  readonly direction: RuleDirection;
  readonly ethertype: 'IPv4' | 'IPv6';
  /** undefined for any */
  readonly protocol: string | undefined;
  readonly portRangeMin: number | undefined;
  readonly portRangeMax: number | undefined;
  readonly remoteIpPrefix: string | undefined;
  readonly remoteGroupId: string | undefined;
  readonly description: string;
}

export interface SecurityGroupRuleSpec {
  readonly securityGroupId: string;
  readonly direction: RuleDirection;
  readonly ethertype?: 'IPv4' | 'IPv6' | undefined;
  readonly protocol?: string | undefined;
  readonly portRangeMin?: number | undefined;
  readonly portRangeMax?: number | undefined;
  readonly remoteIpPrefix?: string | undefined;
  readonly remoteGroupId?: string | undefined;
  readonly description?: string | undefined;
}

export interface SecurityGroupRuleFilter {
  readonly securityGroupId?: string | undefined;
  readonly direction?: RuleDirection | undefined;
  readonly ethertype?: 'IPv4' | 'IPv6' | undefined;
  readonly protocol?: string | undefined;
  readonly remoteGroupId?: string | undefined;
}

/** Rules cannot be changed, only created and deleted. They have no names. */
export interface SecurityGroupRules extends Deletable {
  list(filter?: SecurityGroupRuleFilter, options?: ListOptions): AsyncGenerator<SecurityGroupRule>;
  get(id: string, options?: CallOptions): Promise<SecurityGroupRule>;
  create(desired: SecurityGroupRuleSpec, options?: CallOptions): Promise<SecurityGroupRule>;
  /** creates several in one request, all or none */
  createMany(specs: readonly SecurityGroupRuleSpec[], options?: CallOptions): Promise<SecurityGroupRule[]>;
}

const path = '/security-group-rules';
const one = 'security_group_rule';
const many = 'security_group_rules';

export function securityGroupRules(service: ServiceClient): SecurityGroupRules {
  return {
    async *list(filter, options = {}) {
      const source = { path, many, query: filterQuery(filter) };
      for await (const page of pages(service, source, options)) yield* page.many(many, parseRule);
    },
    async get(id, options = {}) {
      return (await service.request({ method: 'GET', path: `${path}/${segment(id)}`, ...options })).one(one, parseRule);
    },
    async create(desired, options = {}) {
      const json = { [one]: body(desired) };
      return (await service.request({ method: 'POST', path, json, ...options })).one(one, parseRule);
    },
    async createMany(specs, options = {}) {
      const json = { [many]: specs.map(body) };
      return (await service.request({ method: 'POST', path, json, ...options })).many(many, parseRule);
    },
    delete: (id, options = {}) => deleteAt(service, `${path}/${segment(id)}`, options),
  };
}

export function parseRule(value: JsonObject): SecurityGroupRule {
  return {
    id: text(value, 'id'),
    securityGroupId: textOrEmpty(value, 'security_group_id'),
    direction: value['direction'] === 'egress' ? 'egress' : 'ingress',
    ethertype: value['ethertype'] === 'IPv6' ? 'IPv6' : 'IPv4',
    protocol: textIf(value, 'protocol'),
    portRangeMin: numberIf(value, 'port_range_min'),
    portRangeMax: numberIf(value, 'port_range_max'),
    remoteIpPrefix: textIf(value, 'remote_ip_prefix'),
    remoteGroupId: textIf(value, 'remote_group_id'),
    description: textOrEmpty(value, 'description'),
  };
}

function body(desired: SecurityGroupRuleSpec): object {
  return {
    security_group_id: desired.securityGroupId,
    direction: desired.direction,
    ethertype: desired.ethertype,
    protocol: desired.protocol,
    port_range_min: desired.portRangeMin,
    port_range_max: desired.portRangeMax,
    remote_ip_prefix: desired.remoteIpPrefix,
    remote_group_id: desired.remoteGroupId,
    description: desired.description,
  };
}
