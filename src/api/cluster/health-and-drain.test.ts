import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, updated } from '../admission.test-support.ts';

const selector = { matchLabels: { a: 'b' } };
const check = (spec: JsonObject): UnstructuredObject =>
  defaulted(make('MachineHealthCheck', { clusterName: 'c', selector, ...spec }));

describe('a MachineHealthCheck', () => {
  it('gets a node startup timeout of ten minutes and the label of its cluster', () => {
    const object = check({});
    expect(object.spec).toMatchObject({ checks: { nodeStartupTimeoutSeconds: 600 } });
    expect(object.metadata.labels).toEqual({ 'cluster.x-k8s.io/cluster-name': 'c' });
    expect([...created(object), ...refusedBySchema(object)]).toEqual([]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no wait at all', { checks: { nodeStartupTimeoutSeconds: 0 } }, []],
    [
      'too short a wait',
      { checks: { nodeStartupTimeoutSeconds: 29 } },
      ['spec.checks.nodeStartupTimeoutSeconds: Invalid value: 29: must be at least 30s'],
    ],
    ['every machine', { selector: {} }, ['spec.selector: Required value: selector must not be empty']],
    [
      'machines of another cluster',
      { selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'other' } } },
      ['cannot specify a cluster selector other than the one specified by ClusterName'],
    ],
    [
      'a limit that is no number',
      { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 'some' } } },
      [
        'spec.remediation.triggerIf.unhealthyLessThanOrEqualTo: Invalid value: "some": must be either an int or a percentage',
      ],
    ],
    [
      'an operator that does not exist',
      { selector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
      ['operator'],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(check(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it('refuses a change of spec.clusterName', () => {
    expect(updated(check({ clusterName: 'd' }), check({}))).toEqual([
      'spec.clusterName: Forbidden: field is immutable',
    ]);
  });

  it('refuses to check conditions that it sets itself or that depend on them', () => {
    const conditions = [{ type: 'Ready', status: 'False', timeoutSeconds: 1 }];
    expect(refusedBySchema(check({ checks: { unhealthyMachineConditions: conditions } }))).toEqual([
      expect.stringContaining('type must not be one of: Ready, Available, HealthCheckSucceeded'),
    ]);
  });
});

const rule = (spec: JsonObject): UnstructuredObject => make('MachineDrainRule', spec);

describe('a MachineDrainRule', () => {
  it.each<[string, JsonObject, string[]]>([
    ['an order for pods that are drained', { drain: { behavior: 'Drain', order: 5 } }, []],
    [
      'an order for pods that are not',
      { drain: { behavior: 'Skip', order: 5 } },
      ['spec.drain.order: Invalid value: 5: order must not be set if drain behavior is "Skip" or "WaitCompleted"'],
    ],
    [
      'selectors that cannot be read',
      {
        drain: { behavior: 'Drain' },
        machines: [{ clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }],
        pods: [{ selector }, { namespaceSelector: { matchLabels: { 'a b': 'c' } } }],
      },
      ['spec.machines[0].clusterSelector', 'spec.pods[1].namespaceSelector'],
    ],
  ])('is validated with %s', (_, spec, expected) => {
    expect(created(rule(spec))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it('refuses a selector that is listed twice', () => {
    const pods = [{ selector }, { selector }];
    expect(refusedBySchema(rule({ drain: { behavior: 'Skip' }, pods }))).toEqual([
      expect.stringContaining('entries in pods must be unique'),
    ]);
  });
});

describe('taints and name templates of machines', () => {
  const ref = { apiGroup: 'g.io', kind: 'K', name: 'r' };
  const machine = { clusterName: 'c', bootstrap: { dataSecretName: 's' }, infrastructureRef: ref };
  const taint = (key: string): JsonObject => ({ key, effect: 'NoSchedule', propagation: 'Always' });
  const controlPlane = 'node-role.kubernetes.io/control-plane';

  it.each<[string, string, object, string[]]>([
    ['its own', 'example.com/gpu', {}, []],
    ['one for machines out of service', 'node.kubernetes.io/out-of-service', {}, []],
    [
      'one of the kubelet',
      'node.kubernetes.io/not-ready',
      {},
      ['taint key must not have the prefix node.kubernetes.io/'],
    ],
    [
      'one of a cloud controller',
      'node.cloudprovider.kubernetes.io/uninitialized',
      {},
      ['taint key must not have the prefix node.cloudprovider.kubernetes.io/'],
    ],
    ['one of Cluster API', 'node.cluster.x-k8s.io/uninitialized', {}, ['taint key is not allowed']],
    ['a former one', 'node-role.kubernetes.io/master', {}, ['taint is deprecated since 1.24']],
    ['that of control planes on a worker', controlPlane, {}, ['taint is not allowed for worker Machines']],
    ['that of control planes on one of them', controlPlane, { labels: { 'cluster.x-k8s.io/control-plane': '' } }, []],
  ])('checks whether a Machine may have a taint: %s', (_, key, metadata, expected) => {
    const object = defaulted(make('Machine', { ...machine, taints: [taint(key)] }, metadata));
    expect(created(object)).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it.each<[string, string[]]>([
    ['{{ .cluster.name }}-{{ .random }}', []],
    ['{{ .machineSet.name }}-{{ .random }}', []],
    ['{{ .random }}_x', ['generated names would not be valid Kubernetes object names']],
    ['{{ .pool.name }}-{{ .random }}', ['there is no .pool.name']],
  ])('checks whether a MachineDeployment may use the name template %s', (template, expected) => {
    const spec = { clusterName: 'c', template: { spec: machine }, machineNaming: { template } };
    const object = defaulted(make('MachineDeployment', spec));
    expect(created(object)).toEqual(expected.map((text) => expect.stringContaining(text)));
  });
});

describe('the cluster network of a Cluster', () => {
  const cluster = (pods: string, services: string): UnstructuredObject =>
    make('Cluster', {
      infrastructureRef: { apiGroup: 'g.io', kind: 'K', name: 'r' },
      clusterNetwork: { pods: { cidrBlocks: [pods] }, services: { cidrBlocks: [services] } },
    });

  it('refuses a Pod range that overlaps a Service range', () => {
    expect(created(cluster('10.0.0.0/8', '10.96.0.0/12'))).toEqual([
      'spec.clusterNetwork.services.cidrBlocks[0]: Invalid value: "10.96.0.0/12": overlaps with 10.0.0.0/8 of spec.clusterNetwork.pods',
    ]);
    expect(created(cluster('192.168.0.0/16', '10.96.0.0/12'))).toEqual([]);
  });

  it('accepts an update of a Cluster whose overlapping ranges stay unchanged', () => {
    const old = cluster('10.0.0.0/8', '10.96.0.0/12');
    expect(updated({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old)).toEqual([]);
  });
});
