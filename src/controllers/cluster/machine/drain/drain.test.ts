import { describe, expect, it } from 'vitest';
import type {
  Cluster,
  Machine,
  MachineDrainRule,
  PersistentVolume,
  Pod,
  VolumeAttachment,
} from '../../../../api/index.ts';
import { classifyPods, type DrainFacts, rulesForMachine } from './classify.ts';
import { drainMessage, isDrained, planDrain } from './plan.ts';
import { volumesMessage, waitingVolumes } from './volumes.ts';

const now = Date.UTC(2026, 0, 1);
const pod = (name: string, more: { metadata?: object; spec?: object; phase?: string } = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', ...more.metadata },
    spec: { containers: [], ...more.spec },
    ...(more.phase && { status: { phase: more.phase } }),
  }) as Pod;
const owned = (kind: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'u', controller: true }],
});
const rule = (name: string, spec: MachineDrainRule['spec']): MachineDrainRule => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDrainRule',
  metadata: { name },
  spec,
});
const facts = (more: Partial<DrainFacts> = {}): DrainFacts => ({
  rules: [],
  namespaces: new Map(),
  daemonSets: new Set(['ns/o']),
  unreachable: false,
  nowMs: now,
  ...more,
});
const decide = (given: Pod, more: Partial<DrainFacts> = {}) => classifyPods([given], facts(more))[0]!;

describe('the drain decision for a pod', () => {
  it.each([
    ['an ordinary one goes', pod('p', { metadata: owned('ReplicaSet') }), {}, 'Drain'],
    ['one without a controller goes', pod('p'), {}, 'Drain'],
    ['one of a DaemonSet stays', pod('p', { metadata: owned('DaemonSet') }), {}, 'Skip'],
    [
      'one of a DaemonSet that is gone goes',
      pod('p', { metadata: owned('DaemonSet') }),
      { daemonSets: new Set<string>() },
      'Drain',
    ],
    ['a finished one of a DaemonSet goes', pod('p', { metadata: owned('DaemonSet'), phase: 'Failed' }), {}, 'Drain'],
    ['a static one stays', pod('p', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }), {}, 'Skip'],
    ['a label lets it stay', pod('p', { metadata: { labels: { 'cluster.x-k8s.io/drain': 'skip' } } }), {}, 'Skip'],
    [
      'a label lets it finish',
      pod('p', { metadata: { labels: { 'cluster.x-k8s.io/drain': 'wait-completed' } } }),
      {},
      'WaitCompleted',
    ],
    [
      'what has finished is not waited for',
      pod('p', { metadata: { labels: { 'cluster.x-k8s.io/drain': 'wait-completed' } }, phase: 'Succeeded' }),
      {},
      'Skip',
    ],
    [
      'an unreachable node confirms nothing',
      pod('p', { metadata: { deletionTimestamp: '2025-12-31T23:59:00Z' } }),
      { unreachable: true },
      'Skip',
    ],
    ['a reachable one does', pod('p', { metadata: { deletionTimestamp: '2025-12-31T23:59:00Z' } }), {}, 'Drain'],
  ] as [string, Pod, Partial<DrainFacts>, string][])('is made for: %s', (_, given, more, expected) => {
    expect(decide(given, more).behavior).toBe(expected);
  });

  it('follows the first matching rule unless a label of the pod overrides it', () => {
    const rules = [
      rule('a', { drain: { behavior: 'Drain', order: 5 }, pods: [{ selector: { matchLabels: { app: 'db' } } }] }),
      rule('b', { drain: { behavior: 'Skip' } }),
    ];
    expect(decide(pod('p', { metadata: { labels: { app: 'db' } } }), { rules })).toMatchObject({
      behavior: 'Drain',
      order: 5,
    });
    expect(decide(pod('p'), { rules }).behavior).toBe('Skip');
    const label = { app: 'db', 'cluster.x-k8s.io/drain': 'skip' };
    expect(decide(pod('p', { metadata: { labels: label } }), { rules }).behavior).toBe('Skip');
  });

  it('warns about local data and pods without a controller', () => {
    expect(decide(pod('p', { spec: { volumes: [{ name: 'v', emptyDir: {} }] } })).warnings).toHaveLength(2);
  });
});

describe('drain rules of a machine', () => {
  it('match by machine and cluster, in the order of their names', () => {
    const machine = { metadata: { labels: { pool: 'a' } } } as Partial<Machine> as Machine;
    const cluster = { metadata: { labels: { env: 'prod' } } } as Partial<Cluster> as Cluster;
    const rules = [
      rule('z', { drain: { behavior: 'Skip' } }),
      rule('m', { drain: { behavior: 'Skip' }, machines: [{ selector: { matchLabels: { pool: 'b' } } }] }),
      rule('a', {
        drain: { behavior: 'Skip' },
        machines: [{ selector: { matchLabels: { pool: 'a' } }, clusterSelector: { matchLabels: { env: 'prod' } } }],
      }),
      rule('b', { drain: { behavior: 'Skip' }, machines: [{ clusterSelector: { matchLabels: { env: 'test' } } }] }),
    ];
    expect(rulesForMachine(rules, machine, cluster).map(({ metadata }) => metadata.name)).toEqual(['a', 'z']);
  });
});

describe('the plan of a drain', () => {
  it('evicts the lowest order first and explains which pods wait', () => {
    const decisions = [
      { pod: pod('late'), behavior: 'Drain' as const, order: 10, warnings: [] },
      { pod: pod('first'), behavior: 'Drain' as const, order: -1, warnings: [] },
      {
        pod: pod('leaving', { metadata: { deletionTimestamp: 'x' } }),
        behavior: 'Drain' as const,
        order: 10,
        warnings: [],
      },
      { pod: pod('job'), behavior: 'WaitCompleted' as const, order: 0, warnings: [] },
      { pod: pod('stay'), behavior: 'Skip' as const, order: 0, warnings: [] },
    ];
    const plan = planDrain(decisions);
    expect(plan.evict.map(({ pod: { metadata } }) => metadata.name)).toEqual(['first']);
    expect(plan.awaited).toEqual([]);
    const text = drainMessage(
      {
        ...plan,
        refused: new Map([
          ["Cannot evict pod as it would violate the pod's disruption budget. x", [pod('a')]],
          ['boom', [pod('b'), pod('c')]],
        ]),
      },
      't0',
    );
    expect(text.split('\n')).toEqual([
      'Drain not completed yet (started at t0):',
      '* Pod ns/leaving: deletionTimestamp set, but still not removed from the Node',
      "* Pod ns/a: cannot evict pod as it would violate the pod's disruption budget. x",
      '* Pods ns/b, ns/c: failed to evict Pod, boom',
      'After above Pods have been removed from the Node, the following Pods will be evicted: ns/late',
      'After above Pods have been removed from the Node, waiting for the following Pods to complete without eviction: ns/job',
    ]);
    expect(isDrained({ ...planDrain([]), refused: new Map() })).toBe(true);
    expect(isDrained({ ...plan, refused: new Map() })).toBe(false);
  });
});

describe('attached volumes', () => {
  const volume = (name: string, claim?: string): PersistentVolume =>
    ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { csi: { driver: 'd', volumeHandle: name }, ...(claim && { claimRef: { namespace: 'ns', name: claim } }) },
    }) as PersistentVolume;
  const attachment = (persistentVolumeName: string): VolumeAttachment =>
    ({
      metadata: { name: 'a' },
      spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName } },
    }) as VolumeAttachment;
  it('are listed as claims or volumes, without those of pods that stay', () => {
    const found = waitingVolumes(
      ['kubernetes.io/csi/d^v1', 'kubernetes.io/csi/d^ghost'],
      [attachment('v2'), attachment('phantom'), attachment('v3')],
      [volume('v1', 'data'), volume('v2'), volume('v3', 'kept'), volume('v4', 'elsewhere')],
      [pod('ds', { spec: { volumes: [{ name: 'x', persistentVolumeClaim: { claimName: 'kept' } }] } })],
    );
    expect(found).toEqual({
      claims: ['ns/data'],
      volumesWithoutClaim: ['v2'],
      unknownOnNode: ['kubernetes.io/csi/d^ghost'],
      unknownAttachments: ['phantom'],
    });
    expect(volumesMessage(found!, 't0').split('\n')[1]).toBe('* PersistentVolumeClaims: ns/data');
  });
  it('are none when only volumes of remaining pods are left', () => {
    expect(waitingVolumes([], [], [volume('v1')], [])).toBeUndefined();
  });
});
