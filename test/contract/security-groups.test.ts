import { expect, it } from 'vitest';
import { collect, type SecurityGroupRuleSpec } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';

contract('security groups', (cloud) => {
  const network = () => cloud.member.network;
  const createGroup = () => network().securityGroups.create({ name: uniqueName('group'), description: 'd' });
  type Rule = Omit<SecurityGroupRuleSpec, 'securityGroupId'>;

  it('start with a default group that admits its members', async () => {
    const group = (await network().securityGroups.find('default', { projectId: cloud.tenant.projectId }))!;
    const rules = group.rules.map(
      ({ direction, ethertype, remoteGroupId }) => `${direction} ${ethertype} ${remoteGroupId ?? 'any'}`,
    );
    expect(rules.toSorted()).toEqual([
      'egress IPv4 any',
      'egress IPv6 any',
      `ingress IPv4 ${group.id}`,
      `ingress IPv6 ${group.id}`,
    ]);
    await refused(network().securityGroups.create({ name: 'default' }), {
      status: 409,
      type: 'SecurityGroupDefaultAlreadyExists',
    });
    await refused(network().securityGroups.update(group.id, { name: 'x' }), {
      status: 409,
      type: 'SecurityGroupCannotUpdateDefault',
    });
  });

  it('are created with two rules that allow all egress', async () => {
    const group = await createGroup();
    expect(group.description).toBe('d');
    expect(
      group.rules.map(({ direction, ethertype, protocol }) => [direction, ethertype, protocol]).toSorted(),
    ).toEqual([
      ['egress', 'IPv4', undefined],
      ['egress', 'IPv6', undefined],
    ]);
    expect(await network().securityGroups.update(group.id, { description: 'e' })).toMatchObject({ description: 'e' });
    expect(await network().securityGroups.delete(group.id)).toBe(true);
    expect(await network().securityGroups.delete(group.id)).toBe(false);
  });

  it('accept rules, one or many, and list them', async () => {
    const group = await createGroup();
    const { securityGroupRules } = network();
    const rule = await securityGroupRules.create({
      securityGroupId: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      portRangeMin: 22,
      portRangeMax: 22,
      remoteIpPrefix: '10.1.2.3/8',
      description: 'ssh',
    });
    expect(rule).toMatchObject({
      ethertype: 'IPv4',
      protocol: 'tcp',
      remoteIpPrefix: '10.1.2.3/8',
      remoteGroupId: undefined,
      description: 'ssh',
    });
    const many = await securityGroupRules.createMany([
      { securityGroupId: group.id, direction: 'ingress', protocol: 'udp', portRangeMin: 1, portRangeMax: 9 },
      { securityGroupId: group.id, direction: 'ingress', remoteGroupId: group.id, ethertype: 'IPv6' },
    ]);
    expect(many).toHaveLength(2);
    const listed = await collect(securityGroupRules.list({ securityGroupId: group.id, direction: 'ingress' }));
    expect(listed.map(({ id }) => id).toSorted()).toEqual([rule.id, ...many.map(({ id }) => id)].toSorted());
    expect((await network().securityGroups.get(group.id)).rules).toHaveLength(5);
    expect(await securityGroupRules.get(rule.id)).toEqual(rule);
    expect(await securityGroupRules.delete(rule.id)).toBe(true);
    expect(await securityGroupRules.delete(rule.id)).toBe(false);
  });

  it('accept protocols by number', async () => {
    const group = await createGroup();
    const path = '/security-group-rules';
    const json = {
      security_group_rule: {
        security_group_id: group.id,
        direction: 'ingress',
        protocol: 6,
        port_range_min: 1,
        port_range_max: 2,
      },
    };
    const made = (await network().service.request({ method: 'POST', path, json })).member('security_group_rule');
    expect(made['protocol']).toBe('6');
  });

  it('refuse the same rule twice, whatever the case of its protocol', async () => {
    const group = await createGroup();
    const rule = {
      securityGroupId: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      portRangeMin: 80,
      portRangeMax: 80,
    } as const;
    const made = await network().securityGroupRules.create(rule);
    await refused(network().securityGroupRules.create({ ...rule, protocol: 'TCP' }), {
      status: 409,
      kind: 'conflict',
      type: 'SecurityGroupRuleExists',
      says: `Security group rule already exists. Rule id is ${made.id}.`,
    });
  });

  it.each<[string, Rule, number, string]>([
    [
      'a prefix and a group',
      { direction: 'ingress', remoteIpPrefix: '10.0.0.0/8', remoteGroupId: nobody },
      400,
      'SecurityGroupMultipleRemoteEntites',
    ],
    [
      'ports without a protocol',
      { direction: 'ingress', portRangeMin: 1, portRangeMax: 2 },
      400,
      'SecurityGroupProtocolRequiredWithPorts',
    ],
    [
      'ports the wrong way round',
      { direction: 'ingress', protocol: 'tcp', portRangeMin: 9, portRangeMax: 1 },
      400,
      'SecurityGroupInvalidPortRange',
    ],
    [
      'a port that is too large',
      { direction: 'ingress', protocol: 'tcp', portRangeMin: 70_000, portRangeMax: 70_000 },
      400,
      'SecurityGroupInvalidPortValue',
    ],
    ['a protocol nobody knows', { direction: 'ingress', protocol: 'bogus' }, 400, 'SecurityGroupRuleInvalidProtocol'],
    [
      'a prefix of the other version',
      { direction: 'ingress', ethertype: 'IPv6', remoteIpPrefix: '10.0.0.0/8' },
      400,
      'SecurityGroupRuleParameterConflict',
    ],
    ['a group that is not there', { direction: 'ingress', remoteGroupId: nobody }, 404, 'SecurityGroupNotFound'],
    ['a direction nobody knows', { direction: 'sideways' as 'ingress' }, 400, 'HTTPBadRequest'],
  ])('refuse %s', async (_what, rule, status, type) => {
    const group = await createGroup();
    await refused(network().securityGroupRules.create({ securityGroupId: group.id, ...rule }), { status, type });
  });

  it('carry tags', async () => {
    const group = await createGroup();
    const mark = uniqueName('tag');
    await network().securityGroups.replaceTags(group.id, [mark]);
    expect((await collect(network().securityGroups.list({ tags: [mark] }))).map(({ id }) => id)).toEqual([group.id]);
  });
});
