import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Deployment,
  type DeploymentSpec,
  Deployments,
  type ReplicaSet,
  ReplicaSets,
  ResourceQuotas,
} from '../../../api/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['deployments'] });
});
afterEach(() => world.stop());

const labels = { app: 'web' };

function deployment(spec: Partial<DeploymentSpec> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', annotations: { note: 'hello' } },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: template(labels), ...spec },
  };
}

const get = (): Promise<Deployment> => world.get(Deployments, 'web');
const sets = async (): Promise<ReplicaSet[]> =>
  (await world.list(ReplicaSets)).sort(
    (a, b) => Number(a.metadata.annotations![revision]) - Number(b.metadata.annotations![revision]),
  );
const sizes = async (): Promise<(number | undefined)[]> => (await sets()).map(({ spec }) => spec.replicas);
const revision = 'deployment.kubernetes.io/revision';
const setImage = (image: string): Promise<Deployment> =>
  world.patch(Deployments, 'web', { spec: { template: template(labels, image) as never } });
const condition = async (type: string) => (await get()).status?.conditions?.find((one) => one.type === type);

async function isComplete(): Promise<boolean> {
  const { spec, status, metadata } = await get();
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.availableReplicas ?? 0) === spec.replicas &&
    (status?.updatedReplicas ?? 0) === spec.replicas &&
    (status?.replicas ?? 0) === spec.replicas
  );
}

describe('a Deployment', () => {
  it('gets a ReplicaSet and Pods as upstream would make them, and reports it in its status', async () => {
    await world.create(Deployments, deployment());
    await world.until(isComplete);
    const [set] = await sets();
    const hash = set!.metadata.labels!['pod-template-hash']!;
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
    expect(set!.metadata).toMatchObject({
      name: `web-${hash}`,
      labels: { app: 'web', 'pod-template-hash': hash },
      annotations: {
        note: 'hello',
        [revision]: '1',
        'deployment.kubernetes.io/desired-replicas': '3',
        'deployment.kubernetes.io/max-replicas': '4',
      },
    });
    expect(set!.spec.selector?.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash });
    const pods = await world.pods();
    expect(pods.map(({ metadata }) => metadata.name!.startsWith(`web-${hash}-`))).toEqual([true, true, true]);
    expect((await get()).metadata.annotations![revision]).toBe('1');
    expect((await get()).status).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3 });
    expect((await get()).status?.unavailableReplicas).toBeUndefined();
    expect(await condition('Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' });
    expect(await condition('Progressing')).toMatchObject({
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: `ReplicaSet "web-${hash}" has successfully progressed.`,
    });
    expect(await world.reasons('web')).toEqual(['ScalingReplicaSet']);
    expect(await world.writesAtRest()).toBe(0);
  });

  it.each([
    ['a surge', { maxSurge: 1, maxUnavailable: 0 }, { most: 4, fewestReady: 3 }],
    ['some unavailable', { maxSurge: 0, maxUnavailable: 2 }, { most: 3, fewestReady: 1 }],
    ['both', { maxSurge: 2, maxUnavailable: 1 }, { most: 5, fewestReady: 2 }],
  ])('rolls with %s within its limits', async (_, rollingUpdate, limits) => {
    await world.create(Deployments, deployment({ strategy: { type: 'RollingUpdate', rollingUpdate } }));
    await world.until(isComplete);
    const counts = await world.watchCounts();
    await setImage('app:2');
    await world.until(isComplete);
    expect(counts()).toEqual(limits);
    expect(await sizes()).toEqual([0, 3]);
    expect((await world.pods()).map(({ spec }) => spec.containers[0]!.image)).toEqual(['app:2', 'app:2', 'app:2']);
  });

  it('returns to an old ReplicaSet under a new number when its template comes back', async () => {
    await world.create(Deployments, deployment());
    await world.until(isComplete);
    const [first] = await sets();
    await setImage('app:2');
    await world.until(async () => (await isComplete()) && (await sets()).length === 2);
    await setImage('app:1');
    await world.until(async () => (await isComplete()) && (await get()).metadata.annotations![revision] === '3');
    const newest = (await sets()).at(-1)!;
    expect(newest.metadata.uid).toBe(first!.metadata.uid);
    expect(newest.metadata.annotations).toMatchObject({
      [revision]: '3',
      'deployment.kubernetes.io/revision-history': '1',
    });
    expect(await sizes()).toEqual([0, 3]);
  });

  it('keeps no more old ReplicaSets than its history limit', async () => {
    await world.create(Deployments, deployment({ revisionHistoryLimit: 1 }));
    await world.until(isComplete);
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await setImage(image);
      await world.until(async () => (await isComplete()) && (await sets()).length <= 2);
    }
    expect((await sets()).map(({ metadata }) => metadata.annotations![revision])).toEqual(['3', '4']);
  });

  it('makes new Pods only after the last old one has gone with the Recreate strategy', async () => {
    await world.create(Deployments, deployment({ strategy: { type: 'Recreate' } }));
    await world.until(isComplete);
    world.mayEnd = () => false;
    await setImage('app:2');
    await world.until(async () =>
      (await world.pods()).every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    );
    await world.clock.advance(5_000);
    expect(await sets()).toHaveLength(1);
    world.mayEnd = () => true;
    await world.redecide();
    await world.until(async () => (await isComplete()) && (await sets()).length === 2);
    expect((await world.pods()).map(({ spec }) => spec.containers[0]!.image)).toEqual(['app:2', 'app:2', 'app:2']);
  });

  it('reports a stuck rollout and recovers', async () => {
    await world.create(Deployments, deployment({ progressDeadlineSeconds: 60 }));
    await world.until(isComplete);
    world.fate = ({ spec }) => (spec.containers[0]!.image === 'app:1' ? 'ready' : 'crashing');
    await setImage('app:2');
    await world.until(async () => (await condition('Progressing'))?.status === 'False');
    expect(await condition('Progressing')).toMatchObject({ reason: 'ProgressDeadlineExceeded' });
    expect(await condition('Available')).toMatchObject({ status: 'True' });
    expect(await world.writesAtRest()).toBe(0);
    await setImage('app:1');
    await world.until(async () => (await condition('Progressing'))?.reason === 'NewReplicaSetAvailable');
    expect(await sizes()).toEqual([0, 3]);
  });

  it('does not roll out while it is paused, but scales', async () => {
    await world.create(Deployments, deployment());
    await world.until(isComplete);
    await world.patch(Deployments, 'web', { spec: { paused: true, replicas: 5 } });
    await setImage('app:2');
    await world.until(async () => (await get()).status?.availableReplicas === 5);
    expect(await sizes()).toEqual([5]);
    expect(await condition('Progressing')).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' });
    await world.patch(Deployments, 'web', { spec: { paused: false } });
    await world.until(async () => (await isComplete()) && (await sets()).length === 2);
    expect(await sizes()).toEqual([0, 5]);
  });

  it('shares a change of scale among ReplicaSets in the middle of a rollout', async () => {
    const rollingUpdate = { maxSurge: 3, maxUnavailable: 2 };
    await world.create(Deployments, deployment({ replicas: 10, strategy: { type: 'RollingUpdate', rollingUpdate } }));
    await world.until(isComplete);
    world.fate = ({ spec }) => (spec.containers[0]!.image === 'app:1' ? 'ready' : 'running');
    await setImage('app:2');
    await world.until(async () => (await sizes()).join() === '8,5');
    await world.patch(Deployments, 'web', { spec: { replicas: 15 } });
    await world.until(async () => (await get()).status?.replicas === 18);
    expect(await sizes()).toEqual([11, 7]);
  });

  it('counts Pods as available only after they were ready for long enough', async () => {
    await world.create(Deployments, deployment({ minReadySeconds: 30 }));
    await world.until(async () => (await get()).status?.readyReplicas === 3);
    expect((await get()).status?.availableReplicas).toBeUndefined();
    const began = world.clock.now();
    await world.until(isComplete);
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(29_000);
  });

  it('adopts Pods and a ReplicaSet that were left behind', async () => {
    await world.create(Deployments, deployment());
    await world.until(isComplete);
    const before = (await world.pods()).map(({ metadata }) => metadata.uid);
    await world.client.delete(
      Deployments,
      { namespace: world.namespace, name: 'web' },
      { propagationPolicy: 'Orphan' },
    );
    await world.until(async () => (await world.find(Deployments, 'web', world.namespace)) === undefined);
    await world.create(Deployments, deployment());
    await world.until(isComplete);
    expect((await world.pods()).map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(await sets()).toHaveLength(1);
  });

  it('says why no Pod can be made', async () => {
    await world.create(ResourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } },
    });
    await world.patchStatus(ResourceQuotas, 'none', { hard: { pods: '0' }, used: { pods: '0' } });
    await world.create(Deployments, deployment());
    await world.until(async () => (await condition('ReplicaFailure')) !== undefined, 60_000);
    expect((await condition('ReplicaFailure'))?.message).toContain('exceeded quota: none');
    // Later attempts fail with the same message for other Pod names. They must cause neither a status write nor an
    // immediate requeue.
    const [{ metadata: before }] = (await sets()) as [ReplicaSet];
    await world.clock.advance(60_000);
    expect((await sets())[0]!.metadata.resourceVersion).toBe(before.resourceVersion);
    await world.remove(ResourceQuotas, 'none');
    await world.until(isComplete);
    expect(await condition('ReplicaFailure')).toBeUndefined();
  });

  it('counts revisions beyond what a double holds', async () => {
    await world.create(Deployments, deployment());
    await world.until(async () => (await world.list(ReplicaSets)).length === 1);
    const [first] = await world.list(ReplicaSets);
    const most = '9007199254740993';
    await world.patch(ReplicaSets, first!.metadata.name!, {
      metadata: { annotations: { 'deployment.kubernetes.io/revision': most } },
    });
    await world.patch(Deployments, 'web', { spec: { template: { metadata: { annotations: { changed: 'yes' } } } } });
    const revisions = async (): Promise<(string | undefined)[]> =>
      (await world.list(ReplicaSets)).map(
        ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'],
      );
    await world.until(async () => (await revisions()).length === 2);
    expect((await revisions()).sort()).toEqual([most, '9007199254740994']);
  });
});
