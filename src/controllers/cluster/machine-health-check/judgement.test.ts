import { describe, expect, it } from 'vitest';
import type { Cluster, Machine, MachineHealthCheck, Node } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import { remediationBudget } from './budget.ts';
import { evaluateTarget, type TargetNode } from './evaluate.ts';

const now = Date.UTC(2026, 0, 1);
const ago = (seconds: number): string => formatTime(now - seconds * 1000);
const condition = (type: string, status: string, seconds: number, reason = 'R') => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: ago(seconds),
});
const check = (checks: MachineHealthCheck['spec']['checks'] = {}, triggerIf: object = {}): MachineHealthCheck =>
  ({
    metadata: {},
    spec: { clusterName: 'c', selector: {}, checks, remediation: { triggerIf } },
  }) as MachineHealthCheck;
const cluster = (initialized = 'True'): Cluster =>
  ({
    metadata: {},
    spec: {},
    status: {
      conditions: [
        condition('ControlPlaneInitialized', initialized, 5000),
        condition('InfrastructureReady', 'True', 5000),
      ],
    },
  }) as Cluster;
const machine = (
  more: { conditions?: object[]; annotations?: object; age?: number; nodeRef?: boolean } = {},
): Machine =>
  ({
    metadata: { creationTimestamp: ago(more.age ?? 100), annotations: more.annotations ?? {} },
    spec: {},
    status: { conditions: more.conditions ?? [], ...(more.nodeRef && { nodeRef: { name: 'n' } }) },
  }) as Machine;
const node = (...conditions: object[]): Node =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: { conditions } }) as Node;
const nodeChecks = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };
const machineChecks = {
  unhealthyMachineConditions: [{ type: 'EtcdPodHealthy', status: 'False' as const, timeoutSeconds: 60 }],
};

describe('the health of a machine', () => {
  it.each<[string, MachineHealthCheck, Machine, TargetNode, object, Cluster?]>([
    ['is good', check(nodeChecks), machine(), node(condition('Ready', 'True', 10)), { state: 'healthy' }],
    [
      'is in question until the time is up',
      check(nodeChecks),
      machine(),
      node(condition('Ready', 'Unknown', 100)),
      { state: 'pending', inMs: 201_000 },
    ],
    [
      'is bad after that',
      check(nodeChecks),
      machine(),
      node(condition('Ready', 'Unknown', 301, 'NodeStatusUnknown')),
      {
        state: 'unhealthy',
        verdict: {
          reason: 'UnhealthyNode',
          message:
            'Health check failed:\n  * Condition Ready on Node is reporting status Unknown with reason NodeStatusUnknown for more than 5m0s',
        },
      },
    ],
    [
      'is bad by a condition of the machine',
      check(machineChecks),
      machine({ conditions: [condition('EtcdPodHealthy', 'False', 61)] }),
      node(),
      { state: 'unhealthy', verdict: { reason: 'UnhealthyMachine' } },
    ],
    [
      'is bad without its node',
      check(),
      machine({ nodeRef: true }),
      'deleted',
      { state: 'unhealthy', verdict: { reason: 'NodeDeleted' }, legacy: { reason: 'NodeNotFound' } },
    ],
    [
      'is bad when the node never came',
      check({ nodeStartupTimeoutSeconds: 90 }),
      machine(),
      undefined,
      { state: 'unhealthy', verdict: { reason: 'NodeStartupTimeout', message: expect.stringContaining('1m30s') } },
    ],
    [
      'waits for a node counting from when its infrastructure was there',
      check({ nodeStartupTimeoutSeconds: 90 }),
      machine({ conditions: [condition('InfrastructureReady', 'True', 30)] }),
      undefined,
      { state: 'pending', inMs: 61_000 },
    ],
    ['waits ten minutes by default', check(), machine({ age: 100 }), undefined, { state: 'pending', inMs: 501_000 }],
    [
      'is not judged without a start-up limit',
      check({ nodeStartupTimeoutSeconds: 0 }),
      machine({ age: 10_000 }),
      undefined,
      { state: 'unknown' },
    ],
    [
      'is not judged before the control plane is there',
      check({ nodeStartupTimeoutSeconds: 90 }),
      machine({ age: 10_000 }),
      undefined,
      { state: 'unknown' },
      cluster('False'),
    ],
    [
      'is bad when a person says so',
      check(),
      machine({ annotations: { 'cluster.x-k8s.io/remediate-machine': '' } }),
      node(),
      { state: 'unhealthy', verdict: { reason: 'HasRemediateAnnotation' } },
    ],
  ])('%s', (_, given, target, seen, expected, of = cluster()) => {
    expect(evaluateTarget(given, of, target, seen, now)).toMatchObject(expected);
  });
});

describe('the remediation budget', () => {
  it.each([
    ['all may be ill by default', {}, 3, 0, true, 0],
    ['a number', { unhealthyLessThanOrEqualTo: 1 }, 3, 2, true, 0],
    ['a number exceeded', { unhealthyLessThanOrEqualTo: 1 }, 3, 1, false, 0],
    ['a percentage rounds down', { unhealthyLessThanOrEqualTo: '40%' }, 4, 3, true, 0],
    ['a percentage exceeded', { unhealthyLessThanOrEqualTo: '40%' }, 4, 2, false, 0],
    ['inside a range', { unhealthyInRange: '[1-3]' }, 5, 3, true, 1],
    ['below a range', { unhealthyInRange: '[1-3]' }, 5, 5, false, 0],
    ['above a range', { unhealthyInRange: '[1-3]' }, 5, 1, false, 0],
    ['a range wins over a number', { unhealthyInRange: '[0-5]', unhealthyLessThanOrEqualTo: 0 }, 5, 1, true, 1],
  ])('is computed for: %s', (_, triggerIf, expected, healthy, allowed, remaining) => {
    const budget = remediationBudget(check({}, triggerIf), { expected, healthy, unhealthy: expected - healthy });
    expect(budget).toMatchObject({ allowed, remaining });
  });
});
