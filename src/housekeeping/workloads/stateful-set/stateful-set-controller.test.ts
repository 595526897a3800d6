import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ControllerRevisions,
  PersistentVolumeClaims,
  Pods,
  type StatefulSet,
  type StatefulSetSpec,
  StatefulSets,
} from '../../../api/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['statefulSets'] });
});
afterEach(() => world.stop());

const labels = { app: 'db' };

function statefulSet(spec: Partial<StatefulSetSpec> = {}): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: template(labels),
      ...spec,
    },
  };
}

const claimTemplates: NonNullable<StatefulSetSpec['volumeClaimTemplates']> = [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels: { kind: 'data' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];

const get = (): Promise<StatefulSet> => world.get(StatefulSets, 'db');
const names = async (): Promise<string[]> => (await world.pods()).map(({ metadata }) => metadata.name!);
const images = async (): Promise<string[]> => (await world.pods()).map(({ spec }) => spec.containers[0]!.image!);
const claims = async (): Promise<string[]> =>
  (await world.list(PersistentVolumeClaims)).map(({ metadata }) => metadata.name!).sort();
const setImage = (image: string): Promise<StatefulSet> =>
  world.patch(StatefulSets, 'db', { spec: { template: template(labels, image) as never } });

async function isSettled(): Promise<boolean> {
  const { spec, status, metadata } = await get();
  return (
    status?.observedGeneration === metadata.generation &&
    status?.replicas === spec.replicas &&
    (status?.readyReplicas ?? 0) === spec.replicas &&
    (status?.updatedReplicas ?? 0) === spec.replicas
  );
}

describe('a StatefulSet', () => {
  it('makes its Pods one after the other, each with its own name, claim and revision', async () => {
    world.fate = ({ metadata }) => (metadata.name === 'db-1' ? 'running' : 'ready');
    await world.create(StatefulSets, statefulSet({ volumeClaimTemplates: claimTemplates }));
    await world.until(async () => (await names()).length === 2);
    await world.clock.advance(5_000);
    expect(await names()).toEqual(['db-0', 'db-1']);
    world.fate = () => 'ready';
    await world.redecide();
    await world.until(isSettled);
    const [revision] = await world.list(ControllerRevisions);
    const name = revision!.metadata.name!;
    expect(revision).toMatchObject({
      revision: 1,
      metadata: { labels: { app: 'db', 'controller.kubernetes.io/hash': name.slice('db-'.length) } },
      data: { spec: { template: { $patch: 'replace' } } },
    });
    const pod = await world.get(Pods, 'db-2');
    expect(pod.metadata.labels).toEqual({
      app: 'db',
      'apps.kubernetes.io/pod-index': '2',
      'controller-revision-hash': name,
      'statefulset.kubernetes.io/pod-name': 'db-2',
    });
    expect(pod.spec).toMatchObject({ hostname: 'db-2', subdomain: 'db' });
    expect(pod.spec.volumes![0]).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-db-2' } });
    expect(await claims()).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
    expect((await world.get(PersistentVolumeClaims, 'data-db-0')).metadata.labels).toEqual({ app: 'db', kind: 'data' });
    expect((await get()).status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: name,
      updateRevision: name,
      collisionCount: 0,
    });
    expect(await world.writesAtRest()).toBe(0);
  });

  it('makes all Pods at once when it is parallel', async () => {
    world.fate = () => 'running';
    await world.create(StatefulSets, statefulSet({ podManagementPolicy: 'Parallel' }));
    await world.until(async () => (await names()).length === 3);
  });

  it('removes Pods from the last to the first and keeps their claims', async () => {
    await world.create(StatefulSets, statefulSet({ volumeClaimTemplates: claimTemplates }));
    await world.until(isSettled);
    world.mayEnd = ({ metadata }) => metadata.name !== 'db-2';
    await world.patch(StatefulSets, 'db', { spec: { replicas: 1 } });
    await world.until(async () => (await world.get(Pods, 'db-2')).metadata.deletionTimestamp !== undefined);
    await world.clock.advance(5_000);
    expect((await world.get(Pods, 'db-1')).metadata.deletionTimestamp).toBeUndefined();
    world.mayEnd = () => true;
    await world.redecide();
    await world.until(isSettled);
    expect(await names()).toEqual(['db-0']);
    expect(await claims()).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
  });

  it.each([
    ['Delete', 'Retain', ['data-db-0', 'data-db-1', 'data-db-2'], []],
    ['Retain', 'Delete', ['data-db-0', 'data-db-1'], ['data-db-0', 'data-db-1']],
    ['Delete', 'Delete', ['data-db-0', 'data-db-1'], []],
    ['Retain', 'Retain', ['data-db-0', 'data-db-1', 'data-db-2'], ['data-db-0', 'data-db-1', 'data-db-2']],
  ])(
    'follows its retention policy for claims: %s with the set, %s with a Pod',
    async (whenDeleted, whenScaled, scaled, deleted) => {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted, whenScaled };
      await world.create(
        StatefulSets,
        statefulSet({ volumeClaimTemplates: claimTemplates, persistentVolumeClaimRetentionPolicy }),
      );
      await world.until(isSettled);
      await world.patch(StatefulSets, 'db', { spec: { replicas: 2 } });
      await world.until(async () => (await isSettled()) && (await claims()).length === scaled.length);
      await world.clock.advance(2_000);
      expect(await claims()).toEqual(scaled);
      await world.remove(StatefulSets, 'db');
      await world.until(async () => (await names()).length === 0 && (await claims()).length <= deleted.length);
      await world.clock.advance(2_000);
      expect(await claims()).toEqual(deleted);
    },
  );

  it('updates from the last to the first, one at a time, and tells the revisions apart', async () => {
    await world.create(StatefulSets, statefulSet());
    await world.until(isSettled);
    world.fate = ({ metadata, spec }) =>
      metadata.name === 'db-1' && spec.containers[0]!.image === 'app:2' ? 'running' : 'ready';
    await setImage('app:2');
    await world.until(async () => (await get()).status?.updatedReplicas === 2 && (await names()).length === 3);
    await world.clock.advance(5_000);
    expect(await images()).toEqual(['app:1', 'app:2', 'app:2']);
    const { status } = await get();
    expect(status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2, readyReplicas: 2 });
    expect(status!.currentRevision).not.toBe(status!.updateRevision);
    world.fate = () => 'ready';
    await world.redecide();
    await world.until(isSettled);
    expect(await images()).toEqual(['app:2', 'app:2', 'app:2']);
    expect((await get()).status!.currentRevision).toBe(status!.updateRevision);
  });

  it('updates only from the partition on and recreates lost Pods below it as they were', async () => {
    await world.create(
      StatefulSets,
      statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    );
    await world.until(isSettled);
    await setImage('app:2');
    await world.until(
      async () => (await get()).status?.updatedReplicas === 1 && (await get()).status?.readyReplicas === 3,
    );
    await world.remove(Pods, 'db-0');
    await world.until(async () => (await names()).length === 3 && (await get()).status?.readyReplicas === 3);
    expect(await images()).toEqual(['app:1', 'app:1', 'app:2']);
  });

  it('leaves the update to its user with OnDelete', async () => {
    await world.create(StatefulSets, statefulSet({ updateStrategy: { type: 'OnDelete' } }));
    await world.until(isSettled);
    await setImage('app:2');
    await world.clock.advance(5_000);
    expect(await images()).toEqual(['app:1', 'app:1', 'app:1']);
    await world.remove(Pods, 'db-1');
    await world.until(async () => (await get()).status?.readyReplicas === 3 && (await images()).includes('app:2'));
    expect(await images()).toEqual(['app:1', 'app:2', 'app:1']);
  });

  it('recovers without help from a template that cannot work once it is replaced', async () => {
    await world.create(StatefulSets, statefulSet());
    await world.until(isSettled);
    world.fate = ({ spec }) => (spec.containers[0]!.image === 'app:broken' ? 'crashing' : 'ready');
    await setImage('app:broken');
    await world.until(async () => (await images()).includes('app:broken'));
    await world.clock.advance(5_000);
    expect(await images()).toEqual(['app:1', 'app:1', 'app:broken']);
    await setImage('app:3');
    await world.until(isSettled);
    expect(await images()).toEqual(['app:3', 'app:3', 'app:3']);
  });

  it('never has more than one member down in a parallel update', async () => {
    await world.create(StatefulSets, statefulSet({ podManagementPolicy: 'Parallel' }));
    await world.until(isSettled);
    const counts = await world.watchCounts();
    await setImage('app:2');
    await world.until(isSettled);
    expect(counts()).toEqual({ most: 3, fewestReady: 2 });
  });

  it('replaces Pods that ended and waits for those that must stay ready for a while', async () => {
    await world.create(StatefulSets, statefulSet({ minReadySeconds: 10, replicas: 2 }));
    const began = world.clock.now();
    await world.until(async () => (await get()).status?.availableReplicas === 2);
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(19_000);
    const [first] = await world.pods();
    await world.patchStatus(Pods, 'db-0', { phase: 'Failed' });
    await world.until(async () => {
      const [pod] = await world.pods();
      return pod?.metadata.name === 'db-0' && pod.metadata.uid !== first!.metadata.uid;
    });
  });

  it('renumbers a revision when its template comes back and forgets the oldest', async () => {
    await world.create(StatefulSets, statefulSet({ replicas: 1, revisionHistoryLimit: 1 }));
    await world.until(isSettled);
    for (const image of ['app:2', 'app:3', 'app:2']) {
      await setImage(image);
      await world.until(isSettled);
    }
    await world.until(async () => (await world.list(ControllerRevisions)).length === 2);
    const numbers = (await world.list(ControllerRevisions)).map(({ revision }) => revision).sort();
    expect(numbers).toEqual([3, 4]);
  });

  it('counts ordinals from the configured start', async () => {
    await world.create(StatefulSets, statefulSet({ replicas: 2, ordinals: { start: 5 } }));
    await world.until(isSettled);
    expect(await names()).toEqual(['db-5', 'db-6']);
  });
});
