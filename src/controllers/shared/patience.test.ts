import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../machinery/index.ts';
import type { ConditionChange, StatusChange } from '../../runtime/index.ts';
import { nobodyWaitsFor, patienceWith } from './patience.ts';

type Status = 'True' | 'False' | 'Unknown';

const object = (kind: string, more: object = {}): KubeObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind,
  metadata: { name: 'a' },
  ...more,
});
const condition = (type: string, from: Status | undefined, to: Status): ConditionChange => ({
  type,
  from: from === undefined ? undefined : { type, status: from },
  to: { type, status: to },
});
const change = (fields: readonly string[], ...conditions: ConditionChange[]): StatusChange => ({
  fields,
  patch: {},
  conditions,
});

describe('whether somebody waits for a change of a status', () => {
  const controlPlane = { metadata: { name: 'a', labels: { 'cluster.x-k8s.io/control-plane': '' } } };
  it.each<[string, StatusChange, KubeObject, boolean]>([
    ['a text', change([], condition('Ready', 'False', 'False')), object('Machine'), false],
    ['a condition that becomes True', change([], condition('Ready', 'False', 'True')), object('Machine'), true],
    ['a condition that is lost', change([], condition('Ready', 'True', 'False')), object('Machine'), false],
    ['a condition that only informs', change([], condition('UpToDate', undefined, 'True')), object('Machine'), false],
    ['a failed health check', change([], condition('HealthCheckSucceeded', 'True', 'False')), object('Machine'), true],
    ['the generation', change(['observedGeneration', 'phase']), object('Anything'), false],
    ['a field that it does not know', change(['resolved']), object('OpenStackServer'), true],
    ['the id of a server', change(['instanceID']), object('OpenStackServer'), true],
    ['the Node of a worker', change(['nodeRef', 'nodeInfo']), object('Machine'), false],
    ['the Node of a control plane', change(['nodeRef', 'nodeInfo']), object('Machine', controlPlane), true],
    ['provisioned infrastructure', change(['initialization']), object('Cluster'), true],
  ])('%s', (_, seen, of, expected) => {
    expect(nobodyWaitsFor(seen, of)).toBe(!expected);
  });

  it('nobody waits for a server that is being built, unless it failed', () => {
    const fields = ['instanceID', 'instanceState', 'resources', 'ready'];
    const built = (instanceState: string): StatusChange => ({ ...change(fields), patch: { instanceState } });
    expect(nobodyWaitsFor(built('BUILD'), object('OpenStackServer'))).toBe(true);
    expect(nobodyWaitsFor(built('ERROR'), object('OpenStackServer'))).toBe(false);
  });

  it('somebody waits for what a control plane reports of a machine at first, and when all is well', () => {
    const machine = (...conditions: object[]): KubeObject => object('Machine', { status: { conditions } });
    const member = { type: 'EtcdMemberHealthy', status: 'True' };
    const pod = (status: Status) => ({ type: 'EtcdPodHealthy', status });
    const first = change([], condition('EtcdPodHealthy', undefined, 'Unknown'));
    expect(nobodyWaitsFor(first, machine(pod('Unknown')))).toBe(false);
    const partly = change([], condition('EtcdMemberHealthy', 'Unknown', 'True'));
    expect(nobodyWaitsFor(partly, machine(member, pod('Unknown')))).toBe(true);
    expect(nobodyWaitsFor(partly, machine(member, pod('True')))).toBe(false);
  });

  it('somebody waits for numbers of machines when all are there and work', () => {
    const numbers = (ready: number, upToDate = 2): KubeObject =>
      object('MachineSet', {
        spec: { replicas: 2 },
        status: { replicas: 2, upToDateReplicas: upToDate, readyReplicas: ready, availableReplicas: ready },
      });
    expect(nobodyWaitsFor(change(['readyReplicas']), numbers(1))).toBe(true);
    expect(nobodyWaitsFor(change(['readyReplicas']), numbers(2))).toBe(false);
    expect(nobodyWaitsFor(change(['replicas', 'upToDateReplicas']), numbers(0))).toBe(true);
    expect(nobodyWaitsFor(change(['replicas']), numbers(2, 0))).toBe(false);
  });

  it('somebody waits for the counts of kinds that have not all of them', () => {
    const plane = object('K0smotronControlPlane', { spec: { replicas: 1 }, status: { replicas: 1 } });
    expect(nobodyWaitsFor(change(['replicas']), plane)).toBe(false);
  });
});

it('what sums up others waits longer than these', () => {
  const levels = ['OpenStackServer', 'Machine', 'MachineSet', 'MachineDeployment', 'Cluster'].map((kind) =>
    patienceWith(object(kind), change(['replicas'])),
  );
  expect(levels).toEqual([...new Set(levels)].sort((a, b) => a - b));
});

it('a text that sums up others waits longer than a count or a condition that is lost or new', () => {
  const set = object('MachineSet');
  const text = change(['deprecated'], condition('MachinesReady', 'False', 'Unknown'));
  const others = [
    change(['readyReplicas']),
    change([], condition('MachinesReady', 'True', 'False')),
    change([], condition('MachinesReady', undefined, 'Unknown')),
  ];
  for (const other of others) expect(patienceWith(set, text)).toBeGreaterThan(patienceWith(set, other));
  expect(patienceWith(object('Machine'), text)).toBe(patienceWith(object('Machine'), change(['addresses'])));
});
