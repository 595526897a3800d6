import { describe, expect, it } from 'vitest';
import type { Cluster, MachineDeploymentTopology, Topology } from '../../../api/index.ts';
import { completePlan, listedSteps, oneMinorSteps, type UpgradeQuestion } from './plan.ts';
import { decideVersions, type PlaneState, type SequenceHooks, type WorkerState } from './sequence.ts';

const question = (controlPlane: string, desired: string, workers?: string): UpgradeQuestion => ({
  controlPlane,
  desired,
  workers,
});

describe('the plan of an upgrade', () => {
  it('has one step for one minor version', () => {
    const asked = question('v1.33.0', 'v1.34.1', 'v1.33.0');
    expect(completePlan(asked, oneMinorSteps(asked))).toEqual({ controlPlane: ['v1.34.1'], workers: ['v1.34.1'] });
  });

  it('is refused for two minor versions that no class lists', () => {
    expect(() => oneMinorSteps(question('v1.32.0', 'v1.34.0'))).toThrow(/one minor version at a time/);
  });

  it('includes the newest version of every minor between', () => {
    const listed = ['v1.30.0', 'v1.31.1', 'v1.31.9', 'v1.32.0', 'v1.32.5', 'v1.33.1', 'v1.33.2'];
    expect(listedSteps(listed, question('v1.30.0', 'v1.33.1'))).toEqual(['v1.31.9', 'v1.32.5', 'v1.33.1']);
    expect(listedSteps(listed, question('v1.31.1', 'v1.31.9'))).toEqual(['v1.31.9']);
  });

  it('lets workers skip minor versions as far as allowed', () => {
    const steps = ['v1.31.0', 'v1.32.0', 'v1.33.0', 'v1.34.0'];
    expect(completePlan(question('v1.30.0', 'v1.34.0', 'v1.30.0'), steps).workers).toEqual(['v1.33.0', 'v1.34.0']);
    expect(completePlan(question('v1.30.0', 'v1.33.0', 'v1.30.0'), steps.slice(0, 3)).workers).toEqual(['v1.33.0']);
  });

  it.each([
    [['v1.32.0', 'v1.34.0'], /versions between them are missing/],
    [['v1.32.0', 'v1.31.0', 'v1.33.0', 'v1.34.0'], /not newer/],
    [['v1.32.0', 'v1.33.0'], /ends with v1\.33\.0 instead of v1\.34\.0/],
  ])('from an extension is refused: %j', (steps, message) => {
    expect(() => completePlan(question('v1.31.0', 'v1.34.0'), steps)).toThrow(message);
  });
});

const worker = (name: string, annotations?: Record<string, string>): MachineDeploymentTopology => ({
  class: 'w',
  name,
  ...(annotations && { metadata: { annotations } }),
});

function sequence(options: {
  plane?: Partial<PlaneState>;
  workers: Record<string, Partial<WorkerState>>;
  topology?: MachineDeploymentTopology[];
  annotations?: Record<string, string>;
  blocked?: string;
}) {
  const draft: Cluster & { spec: { topology: Topology } } = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'c', namespace: 'n', ...(options.annotations && { annotations: options.annotations }) },
    spec: {
      topology: {
        classRef: { name: 'c' },
        version: 'v1.34.0',
        workers: { machineDeployments: options.topology ?? Object.keys(options.workers).map((name) => worker(name)) },
      },
    },
  };
  const workers = new Map(
    Object.entries(options.workers).map(([name, state]) => [
      name,
      { name: `c-${name}`, version: 'v1.33.0', isUpgrading: false, ...state },
    ]),
  );
  const plane = { kind: 'Plane', version: 'v1.34.0', isProvisioning: false, isUpgrading: false, ...options.plane };
  const hooks: SequenceHooks = {
    isListenedTo: (hook) => hook === options.blocked,
    call: async (hook) => (hook === options.blocked ? { message: 'not now', retryAfterSeconds: 7 } : undefined),
  };
  const lowest = [...workers.values()].find(({ version }) => version === 'v1.33.0')?.version;
  const asked = question(plane.version, 'v1.34.0', lowest ?? (workers.size > 0 ? 'v1.34.0' : undefined));
  const plan = completePlan(asked, oneMinorSteps(asked));
  return decideVersions({ draft, plan, plane, workers, hooks });
}

describe('the versions given to control plane and workers', () => {
  it('change for the control plane first, while workers stay', async () => {
    const { controlPlane, deployments, progress } = await sequence({
      plane: { version: 'v1.33.0' },
      workers: { a: {} },
    });
    expect([controlPlane, deployments.get('a')]).toEqual(['v1.34.0', 'v1.33.0']);
    expect(progress.plane.isStarting).toBe(true);
  });

  it('wait for a control plane that is still busy', async () => {
    const { deployments } = await sequence({ plane: { isUpgrading: true }, workers: { a: {} } });
    expect(deployments.get('a')).toBe('v1.33.0');
  });

  it('change for one worker group at a time, or for as many as an annotation allows', async () => {
    const one = await sequence({ workers: { a: {}, b: {}, c: {} } });
    expect([...one.deployments.values()]).toEqual(['v1.34.0', 'v1.33.0', 'v1.33.0']);
    expect([...one.progress.pending]).toEqual(['c-b', 'c-c']);
    const annotations = { 'topology.cluster.x-k8s.io/upgrade-concurrency': '2' };
    const two = await sequence({ workers: { a: {}, b: {}, c: {} }, annotations });
    expect([...two.deployments.values()]).toEqual(['v1.34.0', 'v1.34.0', 'v1.33.0']);
    const next = await sequence({ workers: { a: { version: 'v1.34.0', isUpgrading: true }, b: {} } });
    expect(next.deployments.get('b')).toBe('v1.33.0');
  });

  it('skip deferred worker groups, and all behind one that holds the sequence', async () => {
    const topology = [
      worker('a', { 'topology.cluster.x-k8s.io/defer-upgrade': '' }),
      worker('b'),
      worker('c', { 'topology.cluster.x-k8s.io/hold-upgrade-sequence': '' }),
      worker('d'),
    ];
    const annotations = { 'topology.cluster.x-k8s.io/upgrade-concurrency': '9' };
    const { deployments, progress } = await sequence({
      workers: { a: {}, b: {}, c: {}, d: {} },
      topology,
      annotations,
    });
    expect([...deployments.values()]).toEqual(['v1.33.0', 'v1.34.0', 'v1.33.0', 'v1.33.0']);
    expect([...progress.deferred]).toEqual(['c-a', 'c-c', 'c-d']);
  });

  it('wait for a hook or for an annotation that blocks the upgrade', async () => {
    const plane = { version: 'v1.33.0' };
    const held = await sequence({ plane, workers: { a: {} }, blocked: 'BeforeClusterUpgrade' });
    expect(held.controlPlane).toBe('v1.33.0');
    expect(held.progress.blocked).toEqual([{ hook: 'BeforeClusterUpgrade', message: 'not now', retryAfterSeconds: 7 }]);
    const annotations = { 'before-upgrade.hook.cluster.cluster.x-k8s.io/backup': '' };
    const annotated = await sequence({ plane, workers: { a: {} }, annotations });
    expect(annotated.controlPlane).toBe('v1.33.0');
    expect(annotated.progress.blocked[0]?.message).toContain('before-upgrade.hook.cluster.cluster.x-k8s.io/backup');
  });

  it('create no workers in the middle of an upgrade', async () => {
    const { deployments, progress } = await sequence({
      plane: { isUpgrading: true },
      workers: { a: { version: 'v1.34.0' } },
      topology: [worker('a'), worker('new')],
    });
    expect(deployments.has('new')).toBe(false);
    expect([...progress.notCreated]).toEqual(['new']);
  });
});
