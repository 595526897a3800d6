import { describe, expect, it } from 'vitest';
import type { Cluster, Machine, MachineDeployment, MachineSet, StatusCondition } from '../../../api/index.ts';
import { formatTime, seededRandom } from '../../../machinery/index.ts';

import { machinesToDelete } from './deletion-order.ts';
import { newMachineName } from './machine-owner.ts';
import { preflightProblems } from './preflight.ts';
import { planRemediation } from './remediation.ts';

const now = Date.UTC(2026, 0, 1);
const condition = (type: string, status: 'True' | 'False', reason = 'R'): StatusCondition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: formatTime(now),
});
const machine = (
  name: string,
  ageDays: number,
  more: {
    annotations?: Record<string, string>;
    conditions?: StatusCondition[];
    deleting?: boolean;
    nodeless?: boolean;
  } = {},
): Machine =>
  ({
    metadata: {
      name,
      creationTimestamp: formatTime(now - ageDays * 86_400_000),
      annotations: more.annotations ?? {},
      ...(more.deleting && { deletionTimestamp: formatTime(now) }),
    },
    spec: {},
    status: { ...(!more.nodeless && { nodeRef: { name } }), conditions: more.conditions ?? [] },
  }) as Machine;

describe('machines to delete', () => {
  const all = [
    machine('old', 100),
    machine('new', 1),
    machine('marked', 50, { annotations: { 'cluster.x-k8s.io/delete-machine': '' } }),
    machine('going', 50, { deleting: true }),
    machine('sick', 50, { conditions: [condition('NodeHealthy', 'False')] }),
    machine('unborn', 50, { nodeless: true }),
  ];
  const order = (policy?: 'Oldest' | 'Newest' | 'Random') =>
    machinesToDelete(all, 6, policy, now).map(({ metadata }) => metadata.name);
  it.each([
    ['Random' as const, ['going', 'marked', 'sick', 'unborn', 'new', 'old']],
    ['Oldest' as const, ['going', 'marked', 'sick', 'unborn', 'old', 'new']],
    ['Newest' as const, ['going', 'marked', 'sick', 'unborn', 'new', 'old']],
  ])('are chosen by the policy %s', (policy, expected) => {
    expect(order(policy)).toEqual(expected);
  });
  it('are none when the count is zero', () => {
    expect(machinesToDelete(all, 0, undefined, now)).toEqual([]);
  });
});

describe('preflight checks of a machine set', () => {
  const cluster = {
    metadata: { namespace: 'ns' },
    spec: { controlPlaneRef: { apiGroup: 'g', kind: 'CP', name: 'cp' } },
  } as Cluster;
  const set = (version: string, skip?: string, kubeadm = true): MachineSet =>
    ({
      metadata: { annotations: skip ? { 'machineset.cluster.x-k8s.io/skip-preflight-checks': skip } : {} },
      spec: {
        template: {
          spec: {
            version,
            bootstrap: kubeadm
              ? { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfigTemplate', name: 'x' } }
              : {},
          },
        },
      },
    }) as MachineSet;
  const plane = (spec: string, ...status: string[]) => ({
    contract: 'v1beta2' as const,
    object: {
      apiVersion: 'g/v1',
      kind: 'CP',
      metadata: { namespace: 'ns', name: 'cp' },
      spec: { version: spec },
      status:
        status.length > 1
          ? { versions: status.map((version) => ({ version })) }
          : status[0]
            ? { version: status[0] }
            : {},
    },
  });
  const checks = (problems: string[]): string[] =>
    problems.map((problem) => /"(\w+)" preflight/.exec(problem)?.[1] ?? problem);
  it.each([
    ['all is well', set('v1.33.1'), plane('v1.33.1', 'v1.33.1'), []],
    ['provisioning', set('v1.33.1'), plane('v1.33.1'), ['ControlPlaneIsStable']],
    ['upgrading', set('v1.33.1'), plane('v1.33.1', 'v1.33.1', 'v1.33.0'), ['ControlPlaneIsStable']],
    [
      'newer than the control plane',
      set('v1.34.0'),
      plane('v1.33.1', 'v1.33.1'),
      ['KubernetesVersionSkew', 'KubeadmVersionSkew'],
    ],
    ['too old', set('v1.29.0', undefined, false), plane('v1.33.1', 'v1.33.1'), ['KubernetesVersionSkew']],
    ['old, but not for kubeadm', set('v1.31.0'), plane('v1.33.1', 'v1.33.1'), ['KubeadmVersionSkew']],
    ['skipped one', set('v1.31.0', 'KubeadmVersionSkew'), plane('v1.33.1', 'v1.33.1'), []],
    ['skipped all', set('v1.31.0', 'All'), plane('v1.33.1'), []],
    ['a missing control plane', set('v1.33.1'), undefined, ['CP ns/cp does not exist']],
  ])('are evaluated: %s', (_, given, controlPlane, expected) => {
    expect(checks(preflightProblems(cluster, given, controlPlane))).toEqual(expected);
  });
  it('use the running version of a control plane that is held until workers are newer', () => {
    const held = plane('v1.32.0', 'v1.31.1');
    const conditions = [{ ...condition('VersionAccepted', 'False', 'VersionSkew') }];
    const controlPlane = { ...held, object: { ...held.object, status: { ...held.object.status, conditions } } };
    const problems = (version: string, kubeadm = true): string[] =>
      checks(preflightProblems(cluster, set(version, undefined, kubeadm), controlPlane as never));
    expect(problems('v1.31.1')).toEqual([]);
    expect(problems('v1.29.1', false)).toEqual([]);
    expect(problems('v1.32.0')).toEqual(['KubernetesVersionSkew', 'KubeadmVersionSkew']);
    const moving = { ...controlPlane, object: { ...controlPlane.object, status: held.object.status } };
    expect(checks(preflightProblems(cluster, set('v1.31.1'), moving as never))).toContain('ControlPlaneIsStable');
  });
  it('wait for the version of the topology', () => {
    const managed = { ...cluster, spec: { ...cluster.spec, topology: { version: 'v1.34.0' } } } as Cluster;
    expect(
      checks(preflightProblems(managed, set('v1.32.0', 'KubeadmVersionSkew'), plane('v1.33.1', 'v1.33.1'))),
    ).toEqual(['ControlPlaneIsStable', 'ControlPlaneVersionSkew']);
  });
});

describe('remediation by a machine set', () => {
  const sick = (name: string, age: number, annotations: Record<string, string> = {}) =>
    machine(name, age, {
      annotations,
      conditions: [condition('HealthCheckSucceeded', 'False'), condition('OwnerRemediated', 'False')],
    });
  const set = {
    metadata: { annotations: { 'machinedeployment.clusters.x-k8s.io/revision': '2' } },
    spec: {},
  } as unknown as MachineSet;
  const deployment = (revision: string, maxInFlight?: number | string): MachineDeployment =>
    ({
      metadata: { annotations: { 'machinedeployment.clusters.x-k8s.io/revision': revision } },
      spec: { replicas: 4, ...(maxInFlight !== undefined && { remediation: { maxInFlight } }) },
    }) as unknown as MachineDeployment;
  const names = (machines: Machine[]) => machines.map(({ metadata }) => metadata.name);
  it('takes machines marked by a user first, then the newest', () => {
    const plan = planRemediation(set, undefined, [
      sick('a', 3),
      sick('b', 1),
      sick('c', 9, { 'cluster.x-k8s.io/remediate-machine': '' }),
    ]);
    expect(names(plan.remediate)).toEqual(['c', 'b', 'a']);
  });
  it('respects the maximum in flight, counting those under way', () => {
    const going = machine('going', 1, {
      deleting: true,
      conditions: [condition('OwnerRemediated', 'False', 'MachineDeleting')],
    });
    const plan = planRemediation(set, deployment('2', '50%'), [sick('a', 3), sick('b', 1), going]);
    expect(names(plan.remediate)).toEqual(['b']);
    expect(plan.waiting[0]?.verdict).toMatchObject({
      reason: 'RemediationDeferred',
      message: expect.stringContaining('50%'),
    });
  });
  it('leaves unhealthy machines of an old revision to the rollout', () => {
    const plan = planRemediation(set, deployment('3'), [sick('a', 3)]);
    expect(plan.remediate).toEqual([]);
    expect(plan.waiting[0]?.verdict.reason).toBe('CannotBeRemediated');
  });
  it('clears the condition of machines that recovered', () => {
    const well = machine('a', 1, {
      conditions: [condition('HealthCheckSucceeded', 'True'), condition('OwnerRemediated', 'False')],
    });
    expect(names(planRemediation(set, undefined, [well]).recovered)).toEqual(['a']);
  });
});

describe('names of machines', () => {
  const set = (template?: string, name = 'ms'): MachineSet =>
    ({
      metadata: { name },
      spec: { clusterName: 'c1', ...(template && { machineNaming: { template } }) },
    }) as MachineSet;
  it.each([
    [set(), /^ms-\w{5}$/],
    [set('{{ .cluster.name }}-{{.random}}-x'), /^c1-\w{5}-x$/],
    [set(undefined, 'a'.repeat(70)), /^a{58}\w{5}$/],
  ])('%#: a machine name follows the naming template and fits into 63 characters', (given, expected) => {
    expect(newMachineName(given, seededRandom(1))).toMatch(expected);
  });
});
