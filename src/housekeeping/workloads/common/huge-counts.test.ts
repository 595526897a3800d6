import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Job,
  Jobs,
  type ReplicaSet,
  ReplicaSets,
  type ReplicationController,
  ReplicationControllers,
  type StatefulSet,
  StatefulSets,
} from '../../../api/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import { IndexSet } from '../job/indexes.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';
import { maxWaitingPods } from './make-pods.ts';

const most = 2_147_483_647;
const labels = { app: 'huge' };
const metadata = { name: 'huge' };

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['deployments', 'statefulSets', 'jobs'] });
  world.fate = ({ metadata }) => (metadata.labels?.['app'] === 'huge' ? 'pending' : 'ready');
});
afterEach(() => world.stop());

const replicaSet = (name: string, replicas: number, own = labels): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: own }, template: template(own) },
});

const statefulSet: StatefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata,
  spec: {
    replicas: most,
    podManagementPolicy: 'Parallel',
    serviceName: 'x',
    selector: { matchLabels: labels },
    template: template(labels),
  },
};

const replicationController: ReplicationController = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata,
  spec: { replicas: most, template: template(labels) },
};

const job = (spec: Partial<Job['spec']>): Job => {
  const { metadata: meta, spec: pod } = template(labels);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { template: { metadata: meta, spec: { ...pod, restartPolicy: 'Never' } }, ...spec },
  };
};

const stop = { replicas: 3 };
const owners: [string, Resource<never>, KubeObject, Record<string, number>][] = [
  ['ReplicaSet', ReplicaSets as Resource<never>, replicaSet('huge', most), stop],
  ['ReplicationController', ReplicationControllers as Resource<never>, replicationController, stop],
  ['StatefulSet', StatefulSets as Resource<never>, statefulSet, stop],
  ['Job', Jobs as Resource<never>, job({ completions: most, parallelism: most }), { parallelism: 3 }],
  [
    'indexed Job',
    Jobs as Resource<never>,
    job({ completions: most, parallelism: 100_000, completionMode: 'Indexed' }),
    { parallelism: 3 },
  ],
];

const living = async (): Promise<number> =>
  (await world.pods(labels)).filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;

describe('a request for two thousand million Pods', () => {
  it.each(owners)('in a %s holds up nobody else and can be taken back', async (_kind, resource, owner, back) => {
    const counts = await world.watchCounts();
    const mostAtOnce = (): number => counts().most;
    await world.create(resource, owner);
    await world.create(ReplicaSets, replicaSet('other', 2, { app: 'other' }));
    // Other owners get their turn, and the spec is read again between rounds.
    await world.until(async () => (await world.get(ReplicaSets, 'other')).status?.readyReplicas === 2);
    await world.patch(resource, 'huge', { spec: back });
    await world.until(async () => (await living()) === 3);
    expect(mostAtOnce()).toBeLessThan(maxWaitingPods);
    expect(await world.writesAtRest()).toBe(0);
    await world.remove(resource, 'huge');
    await world.until(async () => (await world.pods(labels)).length === 0);
  });

  it('gets as many Pods as may wait for a node and says why there are no more', async () => {
    await world.create(ReplicaSets, replicaSet('huge', most));
    await world.until(async () => (await world.get(ReplicaSets, 'huge')).status?.replicas === maxWaitingPods);
    expect((await world.get(ReplicaSets, 'huge')).status?.conditions).toMatchObject([
      { type: 'ReplicaFailure', status: 'True', reason: 'TooManyPodsWaiting' },
    ]);
    expect(await world.writesAtRest()).toBe(0);
    expect(await living()).toBe(maxWaitingPods);
  });

  it('accepts a status that says as many have ended', async () => {
    await world.create(Jobs, job({ completions: most, parallelism: 2, completionMode: 'Indexed' }));
    await world.until(async () => (await living()) === 2);
    await world.patchStatus(Jobs, 'huge', { completedIndexes: `0-${most - 2}` });
    await world.redecide();
    await world.until(async () => (await world.get(Jobs, 'huge')).status?.completedIndexes === `0-${most - 2}`);
  });
});

describe('a set of indexes', () => {
  it('takes memory in proportion to its text', () => {
    const set = IndexSet.parse(`0-5,7-${most}`, most);
    expect(set.size).toBe(most - 1);
    expect(set.firstOutside(0)).toBe(6);
    expect(set.firstOutside(6)).toBe(6);
    set.add(6);
    expect(set.firstOutside(0)).toBe(most);
    expect(set.toString()).toBe(`0-${most - 1}`);
  });

  it('leaves out what is not a number', () => {
    expect(IndexSet.parse('x,1-,3-2,,-1,4', 10).toString()).toBe('4');
  });
});
