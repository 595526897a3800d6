import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ManagedSecurityGroups } from '../../../api/index.ts';
import type { SecurityGroupRule } from '../../../openstack/index.ts';
import type { GroupRole } from '../common/names.ts';
import { diffRules, type RuleContext, type RuleSpec, ruleKey, rulesOf } from './group-rules.ts';

const ids = { controlplane: 'cp', worker: 'w' };
const around = (more: Partial<RuleContext> = {}): RuleContext => ({
  groups: {},
  ids,
  apiPort: 6443,
  additionalPorts: [],
  supervisor: false,
  cidrs: ['10.6.0.0/24'],
  ...more,
});

/** Formats rules like `tcp 6443-6443 from cp (Kubernetes API)`; IPv4 and ingress are implied. */
function text(rule: RuleSpec): string {
  const { direction, ethertype, protocol = 'any', portRangeMin, portRangeMax, remoteGroupId, remoteIpPrefix } = rule;
  const ports = portRangeMin === undefined ? '' : ` ${portRangeMin}-${portRangeMax}`;
  const remote = remoteGroupId ?? remoteIpPrefix;
  const family = ethertype === 'IPv6' ? 'IPv6 ' : '';
  return `${direction === 'egress' ? 'egress ' : ''}${family}${protocol}${ports}${remote ? ` from ${remote}` : ''} (${rule.description})`;
}
const texts = (role: GroupRole, more?: Partial<RuleContext>): string[] => rulesOf(role, around(more)).map(text).sort();

describe('the rules of managed security groups', () => {
  it('let machines reach the rke2 supervisor port whenever it is in use', () => {
    const opened = (more: Partial<RuleContext>) => texts('controlplane', more).filter((line) => line.includes('9345'));
    expect(opened({ supervisor: false })).toEqual([]);
    expect(opened({ supervisor: true })).toEqual(['tcp 9345-9345 (RKE2 supervisor)']);
    expect(opened({ supervisor: true, groups: { allowAllInClusterTraffic: true } })).toHaveLength(1);
  });

  it('of the control plane equal those of upstream', () => {
    expect(texts('controlplane')).toEqual(
      [
        'egress any (Full open)',
        'egress IPv6 any (Full open)',
        'tcp 6443-6443 (Kubernetes API)',
        'tcp 2379-2380 from cp (Etcd)',
        'tcp 10250-10250 from cp (Kubelet API)',
        'tcp 10250-10250 from w (Kubelet API)',
      ].sort(),
    );
  });

  it('of workers equal those of upstream', () => {
    const nodePorts = ['10.6.0.0/24', 'w', 'cp'].flatMap((from) =>
      ['tcp', 'udp'].map((protocol) => `${protocol} 30000-32767 from ${from} (Node Port Services)`),
    );
    expect(texts('worker')).toEqual(
      [
        'egress any (Full open)',
        'egress IPv6 any (Full open)',
        ...nodePorts,
        'tcp 10250-10250 from cp (Kubelet API)',
        'tcp 10250-10250 from w (Kubelet API)',
      ].sort(),
    );
  });

  it('open all traffic in the cluster with allowAllInClusterTraffic', () => {
    const groups = { allowAllInClusterTraffic: true };
    expect(texts('controlplane', { groups })).toEqual(
      [
        'egress any (Full open)',
        'egress IPv6 any (Full open)',
        'tcp 6443-6443 (Kubernetes API)',
        'any from cp (In-cluster Ingress)',
        'any from w (In-cluster Ingress)',
      ].sort(),
    );
    expect(texts('worker', { groups })).not.toContain('tcp 10250-10250 from cp (Kubelet API)');
  });

  it('admit the bastion when there is one', () => {
    const bastion = { ids: { ...ids, bastion: 'b' } };
    expect(texts('controlplane', bastion)).toContain('tcp 22-22 from b (SSH)');
    expect(texts('worker', bastion)).toContain('tcp 22-22 from b (SSH)');
    expect(texts('bastion', bastion)).toEqual(
      ['egress any (Full open)', 'egress IPv6 any (Full open)', 'tcp 22-22 (SSH)'].sort(),
    );
  });

  it('open the actual API port and additional load balancer ports', () => {
    const rules = texts('controlplane', { apiPort: 443, additionalPorts: [8132] });
    expect(rules).toContain('tcp 443-443 (Kubernetes API)');
    expect(rules).toContain('tcp 8132-8132 (Additional port)');
    expect(rules.some((rule) => rule.includes('6443'))).toBe(false);
  });

  it('include IPv6 when a subnet has it', () => {
    const rules = texts('worker', { cidrs: ['10.6.0.0/24', 'fd00::/64'] });
    expect(rules).toContain('IPv6 tcp 30000-32767 from fd00::/64 (Node Port Services)');
    expect(rules).toContain('IPv6 tcp 10250-10250 from cp (Kubelet API)');
    expect(rules).not.toContain('tcp 30000-32767 from fd00::/64 (Node Port Services)');
  });

  it('of the user are expanded for the groups they name', () => {
    const bgp = { name: 'BGP', description: 'BGP', protocol: 'tcp', portRangeMin: 179, portRangeMax: 179 } as const;
    const groups: ManagedSecurityGroups = {
      clusterNodesSecurityGroupRules: [
        { ...bgp, direction: 'ingress', remoteManagedGroups: ['controlplane', 'worker'] },
      ],
      workerNodesSecurityGroupRules: [
        { name: 'v6', description: 'v6', direction: 'egress', remoteIPPrefix: 'fd00::/8' },
      ],
    };
    for (const role of ['controlplane', 'worker'] as const) {
      expect(texts(role, { groups })).toEqual(
        expect.arrayContaining(['tcp 179-179 from cp (BGP)', 'tcp 179-179 from w (BGP)']),
      );
    }
    expect(texts('worker', { groups })).toContain('egress IPv6 any from fd00::/8 (v6)');
    expect(texts('controlplane', { groups })).not.toContain('egress IPv6 any from fd00::/8 (v6)');
  });
});

describe('the identity of two rules', () => {
  const rule = (more: Partial<RuleSpec>): RuleSpec => ({ direction: 'ingress', ethertype: 'IPv4', ...more });

  it.each<[string, Partial<RuleSpec>, Partial<RuleSpec>]>([
    ['differ in description only', { description: 'a' }, { description: 'b' }],
    ['name a protocol and its number', { protocol: 'TCP' }, { protocol: '6' }],
    ['name a range with and without host bits', { remoteIpPrefix: '10.0.0.7/24' }, { remoteIpPrefix: '10.0.0.0/24' }],
    ['name an address and a range of one', { remoteIpPrefix: '10.0.0.7' }, { remoteIpPrefix: '10.0.0.7/32' }],
    ['write an IPv6 range differently', { remoteIpPrefix: 'fd00:0::/64' }, { remoteIpPrefix: 'FD00::/64' }],
  ])('is the same when they %s', (_, a, b) => {
    expect(ruleKey(rule(a))).toBe(ruleKey(rule(b)));
  });

  it.each<[string, Partial<RuleSpec>]>([
    ['direction', { direction: 'egress' }],
    ['family', { ethertype: 'IPv6' }],
    ['protocol', { protocol: 'udp' }],
    ['port', { portRangeMin: 1 }],
    ['remote group', { remoteGroupId: 'x' }],
    ['remote range', { remoteIpPrefix: '0.0.0.0/0' }],
  ])('differs by %s', (_, more) => {
    expect(ruleKey(rule({}))).not.toBe(ruleKey(rule(more)));
  });
});

describe('repair of security group rules', () => {
  const desired: fc.Arbitrary<RuleSpec> = fc.record({
    direction: fc.constantFrom('ingress', 'egress'),
    ethertype: fc.constantFrom('IPv4', 'IPv6'),
    protocol: fc.constantFrom('tcp', 'udp', undefined),
    portRangeMin: fc.constantFrom(1, 2, undefined),
    remoteGroupId: fc.constantFrom('a', 'b', undefined),
  });
  const stored = (rule: RuleSpec, id: number): SecurityGroupRule => ({
    protocol: undefined,
    portRangeMin: undefined,
    portRangeMax: undefined,
    remoteIpPrefix: undefined,
    remoteGroupId: undefined,
    ethertype: 'IPv4',
    ...(rule as object),
    id: String(id),
    securityGroupId: 'g',
    direction: rule.direction,
    description: 'as stored',
  });

  it('turns any rules into exactly the desired ones, and then changes nothing', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(desired, { selector: ruleKey }),
        fc.uniqueArray(desired, { selector: ruleKey }),
        (has, wants) => {
          const existing = has.map(stored);
          const { missing, unwanted } = diffRules(existing, wants);
          const after = [...existing.filter((rule) => !unwanted.includes(rule)), ...missing.map(stored)];
          expect(new Set(after.map(ruleKey))).toEqual(new Set(wants.map(ruleKey)));
          expect(diffRules(after, wants)).toEqual({ missing: [], unwanted: [] });
        },
      ),
    );
  });
});
