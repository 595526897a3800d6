import { describe, expect, it } from 'vitest';
import type { KubeadmConfig, KubeadmControlPlane, Machine } from '../../../../api/index.ts';
import { formatTime, type JsonObject, type UnstructuredObject } from '../../../../machinery/index.ts';
import { desiredConfigSpec } from '../../kubeadm/kubeadm-config.ts';
import { kubeadmProvider as provider } from '../../kubeadm/provider.ts';
import type { MachineHealth } from '../health/machine-health.ts';
import { decideRemediation, goDuration, machineToRemediate, parseRemediation } from './remediation.ts';
import { nextRolloutAt, rolloutReasons } from './rollout.ts';
import { domainForNewMachine, leadershipCandidates, machineToRemove } from './selection.ts';

const now = Date.UTC(2026, 0, 1);
const machine = (name: string, ageMinutes: number, more: JsonObject = {}): Machine =>
  ({
    metadata: {
      name,
      creationTimestamp: formatTime(now - ageMinutes * 60_000),
      annotations: more['annotations'] ?? {},
      ...(more['deleting'] === true && { deletionTimestamp: formatTime(now) }),
    },
    spec: {
      version: 'v1.33.0',
      infrastructureRef: { apiGroup: 'g', kind: 'FakeMachine', name },
      ...(typeof more['domain'] === 'string' && { failureDomain: more['domain'] }),
    },
    status: {
      ...(more['nodeless'] !== true && { nodeRef: { name } }),
      conditions: ((more['ill'] as string[] | undefined) ?? []).map((type) => ({ type, status: 'False' })),
      ...(more['expiry'] !== undefined && { certificatesExpiryDate: more['expiry'] }),
    },
  }) as Machine;
const marked = { 'cluster.x-k8s.io/delete-machine': '' };

describe('the machine to delete first', () => {
  const choose = (machines: Machine[], outdated: string[] = [], unhealthy: string[] = [], domains: string[] = []) =>
    machineToRemove({ machines, outdated: new Set(outdated), unhealthy: new Set(unhealthy), domains })?.metadata.name;

  it.each<[string, string | undefined, string | undefined]>([
    [
      'an outdated one that a user marked',
      choose(
        [machine('a', 9), machine('b', 5, { annotations: marked }), machine('c', 1, { annotations: marked })],
        ['c'],
      ),
      'c',
    ],
    ['one that a user marked', choose([machine('a', 9), machine('b', 5, { annotations: marked })], ['a']), 'b'],
    ['an outdated one that is ill', choose([machine('a', 9), machine('b', 5)], ['a', 'b'], ['b']), 'b'],
    ['an outdated one', choose([machine('a', 9), machine('b', 5)], ['b'], ['a']), 'b'],
    ['the oldest', choose([machine('a', 5), machine('b', 9)]), 'b'],
    [
      'the oldest of the fullest failure domain',
      choose(
        [machine('a', 9, { domain: '1' }), machine('b', 5, { domain: '2' }), machine('c', 7, { domain: '2' })],
        [],
        [],
        ['1', '2'],
      ),
      'c',
    ],
    [
      'one in a domain that is no longer there',
      choose([machine('a', 9, { domain: '1' }), machine('b', 5, { domain: 'x' })], [], [], ['1']),
      'b',
    ],
    ['never one that is going already', choose([machine('a', 9, { deleting: true }), machine('b', 5)]), 'b'],
    ['none of none', choose([]), undefined],
  ])('is: %s', (_, chosen, expected) => {
    expect(chosen).toBe(expected);
  });
});

describe('the failure domain of a new machine', () => {
  it.each<[string, [string, string, boolean][], string | undefined]>([
    ['the emptiest domain', [['a', '1', false]], '2'],
    [
      'counting those that stay first',
      [
        ['a', '1', true],
        ['b', '2', false],
      ],
      '1',
    ],
    ['then all of them', [['a', '1', true]], '2'],
  ])('is: %s', (_, machines, expected) => {
    const all = machines.map(([name, domain]) => machine(name, 1, { domain }));
    const outdated = new Set(machines.filter(([, , old]) => old).map(([name]) => name));
    expect(domainForNewMachine(['2', '1'].slice(0, 2), all, outdated)).toBe(expected);
  });

  it('is undefined without domains', () => {
    expect(domainForNewMachine([], [machine('a', 1)], new Set())).toBeUndefined();
  });
});

describe('the next etcd leader', () => {
  it('is a healthy machine that stays, preferably the newest', () => {
    const leaving = machine('gone', 1);
    const all = [
      machine('old', 9),
      machine('new', 2),
      machine('sick', 1),
      machine('going', 1, { deleting: true }),
      leaving,
    ];
    const order = leadershipCandidates(all, leaving, ({ metadata }) => metadata.name !== 'sick');
    expect(order.map(({ metadata }) => metadata.name)).toEqual(['new', 'old', 'sick', 'going']);
  });
});

const template = { apiGroup: 'g', kind: 'FakeMachineTemplate', name: 't' };
const controlPlane = (spec: JsonObject = {}): KubeadmControlPlane =>
  ({
    metadata: { name: 'cp' },
    spec: { version: 'v1.33.0', replicas: 3, machineTemplate: { spec: { infrastructureRef: template } }, ...spec },
  }) as KubeadmControlPlane;
const clone = (name: string): UnstructuredObject => ({
  apiVersion: 'g/v1',
  kind: 'FakeMachine',
  metadata: {
    annotations: {
      'cluster.x-k8s.io/cloned-from-name': name,
      'cluster.x-k8s.io/cloned-from-groupkind': 'FakeMachineTemplate.g',
    },
  },
});
const configOf = (cp: KubeadmControlPlane, role: 'init' | 'join', change: JsonObject = {}): KubeadmConfig =>
  ({ metadata: {}, spec: { ...desiredConfigSpec(cp, role), ...change } }) as KubeadmConfig;

describe('reasons to replace a machine', () => {
  const reasons = (
    cp: KubeadmControlPlane,
    more: { machine?: Machine; config?: KubeadmConfig; infrastructure?: UnstructuredObject } = {},
  ) =>
    rolloutReasons({
      provider,
      controlPlane: cp,
      machine: more.machine ?? machine('m', 10),
      config: more.config,
      infrastructure: more.infrastructure ?? clone('t'),
      nowMs: now,
    });
  const both = {
    kubeadmConfigSpec: {
      clusterConfiguration: { apiServer: { certSANs: ['a'] } },
      initConfiguration: { nodeRegistration: { name: 'n' } },
      joinConfiguration: { nodeRegistration: { name: 'n' } },
    },
  };
  it.each<[string, string[], string[]]>([
    ['all is as desired', reasons(controlPlane(), { config: configOf(controlPlane(), 'join') }), []],
    ['a new version', reasons(controlPlane({ version: 'v1.34.0' })), ['Version v1.33.0, v1.34.0 required']],
    ['another template', reasons(controlPlane(), { infrastructure: clone('old') }), ['FakeMachine is not up-to-date']],
    [
      'an adopted machine knows no template',
      reasons(controlPlane(), { infrastructure: { apiVersion: 'g/v1', kind: 'FakeMachine', metadata: {} } }),
      [],
    ],
    [
      'another configuration',
      reasons(controlPlane(both), { config: configOf(controlPlane(), 'join') }),
      ['KubeadmConfig is not up-to-date'],
    ],
    [
      'the first machine is compared as if it had joined',
      reasons(controlPlane(both), { config: configOf(controlPlane(both), 'init') }),
      [],
    ],
    [
      'or with settings that only the first one gets',
      reasons(controlPlane({ kubeadmConfigSpec: { initConfiguration: { nodeRegistration: { name: 'i' } } } }), {
        config: configOf(
          controlPlane({ kubeadmConfigSpec: { initConfiguration: { nodeRegistration: { name: 'i' } } } }),
          'init',
        ),
      }),
      [],
    ],
    [
      'what only matters while joining',
      reasons(controlPlane(), {
        config: configOf(controlPlane(), 'join', {
          joinConfiguration: { controlPlane: {}, discovery: { bootstrapToken: { token: 'x' } } },
        }),
      }),
      [],
    ],
    [
      'defaults of the past and empty lists',
      reasons(controlPlane(), { config: configOf(controlPlane(), 'join', { format: 'cloud-config', files: [] }) }),
      [],
    ],
    [
      'a time that has come',
      reasons(controlPlane({ rollout: { after: formatTime(now - 60_000) } })),
      ['KubeadmControlPlane spec.rolloutAfter expired'],
    ],
    ['a time that is yet to come', reasons(controlPlane({ rollout: { after: formatTime(now + 60_000) } })), []],
    [
      'certificates near their end',
      reasons(controlPlane({ rollout: { before: { certificatesExpiryDays: 10 } } }), {
        machine: machine('m', 1, { expiry: formatTime(now + 9 * 86_400_000) }),
      }),
      ['Certificates will expire soon'],
    ],
  ])('are found for: %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('include a time, and the next such time is known', () => {
    const cp = controlPlane({ rollout: { after: formatTime(now + 60_000), before: { certificatesExpiryDays: 1 } } });
    const soon = machine('m', 1, { expiry: formatTime(now + 86_400_000 + 5_000) });
    expect(nextRolloutAt(provider.settingsOf(cp), [soon], now)).toBe(now + 5_000);
    expect(nextRolloutAt(provider.settingsOf(controlPlane()), [soon], now)).toBeUndefined();
  });
});

describe('remediation of a control plane', () => {
  it('chooses the machine in the worst state', () => {
    const all = [
      machine('old', 9, { ill: ['APIServerPodHealthy'] }),
      machine('nodeless', 1, { nodeless: true }),
      machine('asked', 1, { annotations: { 'cluster.x-k8s.io/remediate-machine': '' } }),
    ];
    expect(machineToRemediate(all, { etcdManaged: true })?.metadata.name).toBe('asked');
    expect(machineToRemediate(all.slice(0, 2), { etcdManaged: true })?.metadata.name).toBe('nodeless');
    expect(machineToRemediate([], { etcdManaged: true })).toBeUndefined();
  });

  const record = (minutesAgo: number, retryCount: number): JsonObject => ({
    annotations: {
      'controlplane.cluster.x-k8s.io/remediation-for': JSON.stringify({
        machine: 'before',
        timestamp: formatTime(now - minutesAgo * 60_000),
        retryCount,
      }),
    },
  });
  const decide = (remediation: JsonObject, more: JsonObject) =>
    decideRemediation({
      provider,
      controlPlane: controlPlane({ remediation }),
      machines: [machine('m', 1, more)],
      machine: machine('m', 1, more),
      health: new Map(),
      etcdManaged: true,
      members: undefined,
      initialized: false,
      pendingVersion: undefined,
      nowMs: now,
    });
  it.each<[string, JsonObject, JsonObject, number | string]>([
    ['the first time', {}, {}, 0],
    ['again soon after', {}, record(10, 2), 3],
    ['again long after', {}, record(100, 2), 0],
    ['again, when failures are forgotten sooner', { minHealthyPeriodSeconds: 60 }, record(10, 2), 0],
    ['too soon', { retryPeriodSeconds: 900 }, record(10, 0), 'RemediationDeferred'],
    ['too often', { maxRetry: 2 }, record(10, 2), 'CannotBeRemediated'],
    ['with a note nobody can read', {}, { annotations: { 'controlplane.cluster.x-k8s.io/remediation-for': '{' } }, 0],
  ])('decides: %s', (_, remediation, more, expected) => {
    const decision = decide(remediation, more);
    expect(decision.go ? decision.record.retryCount : decision.verdict.reason).toBe(expected);
  });

  it.each<[string, string[], string | undefined]>([
    ['waits for another deletion that etcd can spare', [], 'RemediationDeferred'],
    ['does not wait for a deletion that waits for it', ['dead'], undefined],
    ['refuses where etcd has no majority', ['dead', 'leaving'], 'CannotBeRemediated'],
  ])('%s', (_, silent, refusal) => {
    const machines = [machine('dead', 3), machine('leaving', 2, { deleting: true }), machine('well', 1)];
    const members = machines.map(({ metadata: { name = '' } }) => ({
      id: name,
      name,
      isLearner: false,
      peerUrls: [],
      clientUrls: [],
      healthy: !silent.includes(name),
    }));
    const health = new Map<string, MachineHealth>(
      members.map((member) => {
        const { name, healthy } = member;
        const parts = { componentsHealthy: healthy, memberHealthy: healthy, verdicts: new Map(), legacy: new Map() };
        return [name, { nodeName: name, member, ...parts }];
      }),
    );
    const decision = decideRemediation({
      provider,
      controlPlane: controlPlane({}),
      machines,
      machine: machines[0]!,
      health,
      etcdManaged: true,
      members,
      initialized: true,
      pendingVersion: undefined,
      nowMs: now,
    });
    expect(decision.go ? undefined : decision.verdict.reason).toBe(refusal);
  });

  it('parses its annotation and prints durations', () => {
    expect(parseRemediation('{"machine":"a","timestamp":"t","retryCount":1}')).toEqual({
      machine: 'a',
      timestamp: 't',
      retryCount: 1,
    });
    expect(parseRemediation('[]')).toBeUndefined();
    expect([goDuration(5), goDuration(90), goDuration(3661)]).toEqual(['5s', '1m30s', '1h1m1s']);
  });
});
