import type { ManagedSecurityGroups, SecurityGroupRule as UserRule } from '../../../api/index.ts';
import { cidrFamily, ipFamily, ipToBigInt } from '../../../machinery/index.ts';
import type { SecurityGroupRule, SecurityGroupRuleSpec } from '../../../openstack/index.ts';
import { supervisorPort } from '../../shared/index.ts';
import type { GroupRole } from '../common/names.ts';
import { UnusableInput } from '../common/outcomes.ts';

/** A rule without the id of its group. */
export type RuleSpec = Omit<SecurityGroupRuleSpec, 'securityGroupId'>;

export interface RuleContext {
  readonly groups: ManagedSecurityGroups;
  /** ids of existing groups; the bastion group exists only with a bastion */
  readonly ids: Readonly<Partial<Record<GroupRole, string>>>;
  readonly apiPort: number;
  /** further ports of the load balancer */
  readonly additionalPorts: readonly number[];
  /** whether rke2 machines register at the supervisor port */
  readonly supervisor: boolean;
  /** CIDRs of the cluster's subnets */
  readonly cidrs: readonly string[];
}

type EtherType = 'IPv4' | 'IPv6';

/** Lists all rules of one group without duplicates. */
export function rulesOf(role: GroupRole, around: RuleContext): RuleSpec[] {
  const families = familiesOf(around.cidrs);
  const rules = [
    ...(['IPv4', 'IPv6'] as const).map((family) => open('egress', family, 'Full open')),
    ...defaults[role](around, families),
    ...(role === 'bastion' ? [] : userRules(role, around)),
  ];
  const unique = new Map(rules.map((rule) => [ruleKey(rule), rule]));
  return [...unique.values()];
}

/** IPv4 always; IPv6 if a subnet of the cluster has it. */
function familiesOf(cidrs: readonly string[]): EtherType[] {
  const found = new Set(cidrs.map((cidr) => cidrFamily(cidr)));
  if (!found.has('IPv6')) return ['IPv4'];
  return found.has('IPv4') ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4'];
}

const defaults: Record<GroupRole, (around: RuleContext, families: readonly EtherType[]) => RuleSpec[]> = {
  controlplane: ({ groups, ids, apiPort, additionalPorts, supervisor }, families) =>
    families.flatMap((family) => [
      ports('Kubernetes API', family, 'tcp', apiPort),
      // as open as the API: traffic through the cluster endpoint does not carry the machines' group
      ...(supervisor ? [ports('RKE2 supervisor', family, 'tcp', supervisorPort)] : []),
      ...additionalPorts.map((port) => ports('Additional port', family, 'tcp', port)),
      ...(groups.allowAllInClusterTraffic === true
        ? fromGroups([ids.controlplane, ids.worker], (from) => inCluster(family, from))
        : [
            ...fromGroups([ids.controlplane], (from) => ports('Etcd', family, 'tcp', [2379, 2380], from)),
            ...fromGroups([ids.controlplane, ids.worker], (from) => ports('Kubelet API', family, 'tcp', 10250, from)),
          ]),
      ...ssh(family, ids),
    ]),
  worker: ({ groups, ids, cidrs }, families) => [
    ...nodePorts(cidrs.map((cidr) => [familyOf(cidr), { remoteIpPrefix: cidr }])),
    ...families.flatMap((family) => [
      ...nodePorts(fromGroups([ids.worker, ids.controlplane], (from) => [family, from])),
      ...fromGroups([ids.worker, ids.controlplane], (from) =>
        groups.allowAllInClusterTraffic === true
          ? inCluster(family, from)
          : ports('Kubelet API', family, 'tcp', 10250, from),
      ),
      ...ssh(family, ids),
    ]),
  ],
  bastion: (_, families) => families.map((family) => ports('SSH', family, 'tcp', 22)),
};

type Remote = Pick<RuleSpec, 'remoteGroupId' | 'remoteIpPrefix'>;

function open(direction: 'ingress' | 'egress', ethertype: EtherType, description: string, from: Remote = {}): RuleSpec {
  return { direction, ethertype, description, ...from };
}

function inCluster(family: EtherType, from: Remote): RuleSpec {
  return open('ingress', family, 'In-cluster Ingress', from);
}

function ports(
  description: string,
  ethertype: EtherType,
  protocol: string,
  port: number | readonly [first: number, last: number],
  from: Remote = {},
): RuleSpec {
  const [portRangeMin, portRangeMax] = typeof port === 'number' ? [port, port] : port;
  return { ...open('ingress', ethertype, description, from), protocol, portRangeMin, portRangeMax };
}

function nodePorts(sources: readonly (readonly [EtherType, Remote])[]): RuleSpec[] {
  return sources.flatMap(([family, from]) =>
    ['tcp', 'udp'].map((protocol) => ports('Node Port Services', family, protocol, [30000, 32767], from)),
  );
}

function ssh(family: EtherType, ids: RuleContext['ids']): RuleSpec[] {
  return fromGroups([ids.bastion], (from) => ports('SSH', family, 'tcp', 22, from));
}

function fromGroups<T>(ids: readonly (string | undefined)[], make: (from: Remote) => T): T[] {
  return ids.flatMap((remoteGroupId) => (remoteGroupId === undefined ? [] : [make({ remoteGroupId })]));
}

function userRules(role: 'controlplane' | 'worker', { groups, ids }: RuleContext): RuleSpec[] {
  const own =
    role === 'controlplane' ? groups.controlPlaneNodesSecurityGroupRules : groups.workerNodesSecurityGroupRules;
  return [...(own ?? []), ...(groups.clusterNodesSecurityGroupRules ?? [])].flatMap((rule) => expand(rule, ids));
}

/** Expands a user rule into one rule per remote group. */
function expand(rule: UserRule, ids: RuleContext['ids']): RuleSpec[] {
  const desired: RuleSpec = {
    direction: rule.direction,
    ethertype: rule.etherType ?? familyOf(rule.remoteIPPrefix ?? ''),
    ...(rule.description && { description: rule.description }),
    ...(rule.protocol && rule.protocol !== 'any' && { protocol: rule.protocol }),
    ...(rule.portRangeMin !== undefined && { portRangeMin: rule.portRangeMin }),
    ...(rule.portRangeMax !== undefined && { portRangeMax: rule.portRangeMax }),
  };
  if (rule.remoteGroupID) return [{ ...desired, remoteGroupId: rule.remoteGroupID }];
  if (rule.remoteIPPrefix) return [{ ...desired, remoteIpPrefix: rule.remoteIPPrefix }];
  const remotes = rule.remoteManagedGroups ?? [];
  if (remotes.length === 0) return [desired];
  return remotes.map((remote) => {
    const remoteGroupId = ids[remote];
    if (remoteGroupId !== undefined) return { ...desired, remoteGroupId };
    throw new UnusableInput(
      `spec.managedSecurityGroups: rule "${rule.name}" names the remote group "${remote}", which does not exist; enable the ${remote}, or take it out of the rule`,
      { reason: 'SecurityGroupCreateFailed' },
    );
  });
}

function familyOf(cidr: string): EtherType {
  return (cidrFamily(cidr) ?? ipFamily(cidr)) === 'IPv6' ? 'IPv6' : 'IPv4';
}

/** Key of a rule by its effect; its description does not count. */
export function ruleKey(rule: RuleSpec | SecurityGroupRule): string {
  const { direction, ethertype = 'IPv4', portRangeMin, portRangeMax, remoteGroupId, remoteIpPrefix } = rule;
  return [
    direction,
    ethertype,
    protocolKey(rule.protocol),
    portRangeMin ?? '',
    portRangeMax ?? '',
    remoteGroupId ?? '',
    prefixKey(remoteIpPrefix),
  ].join('|');
}

/** Neutron returns protocols as names or numbers. */
const protocolNames: Readonly<Record<string, string>> = {
  '1': 'icmp',
  '6': 'tcp',
  '17': 'udp',
  '4': 'ipip',
  '58': 'ipv6-icmp',
};

function protocolKey(protocol: string | undefined): string {
  const text = (protocol ?? '').toLowerCase();
  if (text === 'any' || text === '-1') return '';
  if (text === 'icmpv6') return 'ipv6-icmp';
  return protocolNames[text] ?? text;
}

/** Normalizes a prefix: `10.0.0.7/24` becomes `10.0.0.0/24`, and a single address a range of one. */
function prefixKey(prefix: string | undefined): string {
  if (prefix === undefined || prefix === '') return '';
  const [address = '', length] = prefix.split('/');
  const family = ipFamily(address);
  if (family === undefined) return prefix;
  const bits = family === 'IPv4' ? 32 : 128;
  const kept = length === undefined ? bits : Number(length);
  if (!(kept >= 0 && kept <= bits)) return prefix;
  const host = BigInt(bits - kept);
  return `${family}/${(ipToBigInt(address) >> host) << host}/${kept}`;
}

/** Computes the changes that give a group exactly the wanted rules. */
export function diffRules(
  existing: readonly SecurityGroupRule[],
  wanted: readonly RuleSpec[],
): { missing: RuleSpec[]; unwanted: SecurityGroupRule[] } {
  const has = new Set(existing.map(ruleKey));
  const wants = new Set(wanted.map(ruleKey));
  return {
    missing: wanted.filter((rule) => !has.has(ruleKey(rule))),
    unwanted: existing.filter((rule) => !wants.has(ruleKey(rule))),
  };
}
