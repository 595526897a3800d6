import { pythonRepr, pythonText } from '../../core/checks/python.ts';
import { formatCidr, knownCidr, parseCidr } from '../addressing/cidr.ts';
import { formatIp } from '../addressing/ip.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { addressGroupNotFound, refuse, securityGroupNotFound, securityGroupRuleNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { SecurityGroupRuleRow } from '../rows.ts';
import { insertRule } from './default-security-group.ts';
import { canonicalProtocol, isOnlyIpv6, portProtocols, protocolNumber, protocolNumbers } from './protocols.ts';
import { canUse } from './sharing.ts';

const reference = { create: true, default: null, filter: true, sort: true };

const attributes: Attributes = {
  ...common.standardAttributes,
  description: common.description,
  id: common.id,
  security_group_id: { create: true, required: true, check: checks.string(36), filter: true, sort: true },
  remote_group_id: reference,
  direction: { create: true, required: true, check: checks.oneOf(['ingress', 'egress']), filter: true, sort: true },
  protocol: { ...reference, convert: toProtocol },
  port_range_min: { ...reference, convert: toPort },
  port_range_max: { ...reference, convert: toPort },
  ethertype: { create: true, default: 'IPv4', convert: toEthertype, filter: true, sort: true },
  remote_ip_prefix: { ...reference, convert: toPrefix },
  tenant_id: common.owner,
  normalized_cidr: common.listable,
  remote_address_group_id: reference,
};

export function securityGroupRuleResource(neutron: Neutron): Resource<SecurityGroupRuleRow> {
  const { securityGroupRules, securityGroups } = neutron;
  return {
    name: 'security_group_rule',
    collection: 'security_group_rules',
    path: 'security-group-rules',
    quota: 'security_group_rule',
    attributes,
    rules: {},
    table: securityGroupRules,
    notFound: securityGroupRuleNotFound,
    isVisibleTo: (row, caller) => row.tenant_id === caller.projectId,
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates(filters, { isAdmin, projectId }) {
      const groups = filters.get('security_group_id');
      if (groups?.length === 1) return securityGroupRules.by('group', groups[0] as string);
      return isAdmin || projectId === undefined ? undefined : securityGroupRules.by('project', projectId);
    },
    read: (row, name) => (name === 'normalized_cidr' ? normalized(row) : undefined),
    view: ruleView,
    checkBulk(items) {
      if (new Set(items.map((each) => each['security_group_id'])).size > 1) {
        const message = 'Only allowed to update rules for one security profile at a time';
        throw refuse(400, 'SecurityGroupNotSingleGroupRules', message);
      }
      const keys = new Set<string>();
      for (const values of items) {
        const key = keyOf(canonical(values));
        if (keys.has(key)) {
          throw refuse(409, 'DuplicateSecurityGroupRuleInPost', 'Duplicate Security Group Rule in POST.');
        }
        keys.add(key);
      }
    },
    create(values, caller) {
      const rule = canonical(values);
      check(rule);
      const owner = values['tenant_id'];
      const known = (id: string): boolean => {
        const group = securityGroups.get(id);
        return group !== undefined && (caller.isAdmin || group.tenant_id === owner);
      };
      for (const id of [rule.remote_group_id, rule.security_group_id]) {
        if (id !== null && !known(id)) throw securityGroupNotFound(id);
      }
      const addresses = rule.remote_address_group_id;
      if (addresses !== null) {
        const group = neutron.addressGroups.get(addresses);
        if (!group || !canUse(neutron, group, caller)) throw addressGroupNotFound(addresses);
      }
      const key = keyOf(rule);
      for (const other of securityGroupRules.by('group', rule.security_group_id)) {
        if (keyOf(other) !== key) continue;
        const message = `Security group rule already exists. Rule id is ${other.id}.`;
        throw refuse(409, 'SecurityGroupRuleExists', message);
      }
      const group = securityGroups.known(rule.security_group_id);
      const made = insertRule(neutron, group, { ...rule, description: values['description'] as string });
      neutron.change(securityGroups, group, {});
      return made;
    },
    delete(row) {
      securityGroupRules.delete(row.id);
      const group = securityGroups.get(row.security_group_id);
      if (group) neutron.change(securityGroups, group, {});
    },
  };
}

export function ruleView(row: Readonly<SecurityGroupRuleRow>): Record<string, unknown> {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    security_group_id: row.security_group_id,
    ethertype: row.ethertype,
    direction: row.direction,
    protocol: row.protocol,
    port_range_min: row.port_range_min,
    port_range_max: row.port_range_max,
    remote_ip_prefix: row.remote_ip_prefix,
    remote_address_group_id: row.remote_address_group_id,
    normalized_cidr: normalized(row),
    remote_group_id: row.remote_group_id,
    description: row.description,
    ...standardView(row),
    project_id: row.tenant_id,
  };
}

type RuleContent = Pick<
  SecurityGroupRuleRow,
  | 'security_group_id'
  | 'direction'
  | 'ethertype'
  | 'protocol'
  | 'port_range_min'
  | 'port_range_max'
  | 'remote_ip_prefix'
  | 'remote_group_id'
  | 'remote_address_group_id'
>;

/** Canonical form of a rule. The range of all ports becomes no range. */
function canonical(values: Values): RuleContent {
  const given = values as RuleContent;
  const hasAllPorts = given.port_range_min === 1 && given.port_range_max === 65535;
  return {
    security_group_id: given.security_group_id,
    direction: given.direction,
    ethertype: given.ethertype,
    protocol: canonicalProtocol(given.protocol, given.ethertype),
    port_range_min: hasAllPorts ? null : given.port_range_min,
    port_range_max: hasAllPorts ? null : given.port_range_max,
    remote_ip_prefix: given.remote_ip_prefix,
    remote_group_id: given.remote_group_id || null,
    remote_address_group_id: given.remote_address_group_id || null,
  };
}

function check(rule: RuleContent): void {
  checkPorts(rule);
  const { remote_ip_prefix: prefix, ethertype, protocol } = rule;
  if (prefix !== null && `IPv${knownCidr(prefix).version}` !== ethertype) {
    const message = `Conflicting value ethertype ${ethertype} for CIDR ${prefix}`;
    throw refuse(400, 'SecurityGroupRuleParameterConflict', message);
  }
  if (protocol !== null && ethertype === 'IPv4' && isOnlyIpv6(protocol)) {
    const message = `Invalid ethertype ${ethertype} for protocol ${protocol}.`;
    throw refuse(400, 'SecurityGroupEthertypeConflictWithProtocol', message);
  }
  const remotes = [prefix, rule.remote_group_id, rule.remote_address_group_id].filter((each) => each !== null);
  if (remotes.length > 1) {
    const message = 'Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.';
    throw refuse(400, 'SecurityGroupMultipleRemoteEntites', message);
  }
}

function checkPorts({ protocol, port_range_min: min, port_range_max: max }: RuleContent): void {
  if (min === null && max === null) return;
  if (protocol === null) {
    const message = 'Must also specify protocol if port range is given.';
    throw refuse(400, 'SecurityGroupProtocolRequiredWithPorts', message);
  }
  const number = protocolNumber(protocol);
  if (portProtocols.some((name) => protocolNumbers[name] === number)) {
    if (min === 0 || max === 0) throw invalidPort(0);
    if (min === null || max === null || min > max) {
      const message = 'For TCP/UDP protocols, port_range_min must be <= port_range_max';
      throw refuse(400, 'SecurityGroupInvalidPortRange', message);
    }
  } else if (number === protocolNumbers['icmp'] || number === protocolNumbers['ipv6-icmp']) {
    checkIcmp(min, max);
  } else {
    const names = portProtocols.map((name) => name.toUpperCase()).join(', ');
    const message = `Ports cannot be specified for protocol ${number}. Ports are only supported for ${names}.`;
    throw refuse(400, 'SecurityGroupInvalidProtocolForPort', message);
  }
}

function checkIcmp(type: number | null, code: number | null): void {
  for (const [field, attribute, value] of [
    ['type', 'port_range_min', type],
    ['code', 'port_range_max', code],
  ] as const) {
    if (value === null || value <= 255) continue;
    const message = `Invalid value for ICMP ${field} (${attribute}) ${value}. It must be 0 to 255.`;
    throw refuse(400, 'SecurityGroupInvalidIcmpValue', message);
  }
  if (type === null && code !== null) {
    const message = `ICMP code (port-range-max) ${code} is provided but ICMP type (port-range-min) is missing.`;
    throw refuse(400, 'SecurityGroupMissingIcmpType', message);
  }
}

/** Equivalent rules have the same key. */
function keyOf(rule: RuleContent): string {
  const { protocol, remote_ip_prefix: prefix } = rule;
  const isEverywhere = prefix === null || prefix === '0.0.0.0/0' || prefix === '::/0';
  return [
    rule.direction,
    rule.ethertype,
    rule.port_range_max,
    rule.port_range_min,
    protocol === null ? null : protocolNumber(canonicalProtocol(protocol, rule.ethertype) ?? protocol),
    rule.remote_group_id,
    rule.remote_address_group_id,
    isEverywhere ? null : prefix,
    rule.security_group_id,
  ].join(' ');
}

function normalized({ remote_ip_prefix: prefix }: Readonly<SecurityGroupRuleRow>): string | null {
  return prefix === null ? null : formatCidr(knownCidr(prefix));
}

function toProtocol(value: unknown): string | null {
  if (value === null) return null;
  const text = String(value).toLowerCase();
  if (typeof value === 'number' || (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))) {
    if (Number(text) >= 0 && Number(text) <= 255) return String(value);
  } else if (typeof value === 'string' && text in protocolNumbers) {
    return text;
  }
  const names = pythonRepr([null, ...Object.keys(protocolNumbers)]);
  const message = `Security group rule protocol ${pythonText(value)} not supported. Only protocol values ${names} and integer representations [0 to 255] are supported.`;
  throw refuse(400, 'SecurityGroupRuleInvalidProtocol', message);
}

function toPort(value: unknown): number | null {
  if (value === null) return null;
  const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 65535) return number;
  throw invalidPort(value);
}

function invalidPort(value: unknown): Error {
  return refuse(400, 'SecurityGroupInvalidPortValue', `Invalid value for port ${pythonText(value)}`);
}

function toEthertype(value: unknown): string {
  const found = ['IPv4', 'IPv6'].find(
    (each) => typeof value === 'string' && each.toLowerCase() === value.toLowerCase(),
  );
  if (found !== undefined) return found;
  const message = `Security group rule for ethertype '${pythonText(value)}' not supported. Allowed values are ['IPv4', 'IPv6'].`;
  throw refuse(400, 'SecurityGroupRuleInvalidEtherType', message);
}

function toPrefix(value: unknown): string | null {
  if (value === null || value === '') return null;
  const cidr = typeof value === 'string' ? parseCidr(value) : undefined;
  if (!cidr) throw refuse(400, 'InvalidCIDR', `Invalid CIDR ${pythonText(value)} given as IP prefix.`);
  return `${formatIp({ version: cidr.version, value: cidr.ip })}/${cidr.prefix}`;
}
