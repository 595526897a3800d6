import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Job, type JobSpec, Jobs, type Pod, Pods } from '../../../api/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';
import { IndexSet } from './indexes.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['jobs'] });
});
afterEach(() => world.stop());

function job(spec: Partial<JobSpec> = {}): Job {
  const { metadata, spec: pod } = template({ app: 'job' });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'job' },
    spec: { template: { metadata, spec: { ...pod, restartPolicy: 'Never' } }, ...spec },
  };
}

const get = (): Promise<Job> => world.get(Jobs, 'job');
const condition = async (type: string) => (await get()).status?.conditions?.find((one) => one.type === type);
const isOver = async (): Promise<boolean> =>
  (await get()).status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed') ?? false;

describe('a Job', () => {
  it('runs as many Pods as it needs, as many at a time as it may, and counts each once', async () => {
    world.fate = () => 'succeeded';
    await world.create(Jobs, job({ completions: 5, parallelism: 2 }));
    const counts = await world.watchCounts();
    await world.until(isOver);
    counts();
    expect((await get()).status).toMatchObject({ succeeded: 5, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect((await get()).status?.active).toBeUndefined();
    expect((await get()).status?.completionTime).toBeDefined();
    expect(await condition('Complete')).toMatchObject({
      status: 'True',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    });
    const pods = await world.pods();
    expect(pods).toHaveLength(5);
    expect(pods.every(({ metadata }) => metadata.finalizers === undefined)).toBe(true);
    expect(await world.reasons('job')).toContain('Completed');
    expect(await world.writesAtRest()).toBe(0);
  });

  it('counts a Pod that somebody deletes after it ended', async () => {
    world.fate = ({ metadata }) => (metadata.annotations?.['look'] ? 'succeeded' : 'running');
    await world.create(Jobs, job({ completions: 2, parallelism: 1 }));
    await world.until(async () => (await get()).status?.active === 1);
    await world.redecide();
    await world.until(async () => (await get()).status?.succeeded === 1);
    const ended = (await world.pods()).find(({ status }) => status?.phase === 'Succeeded')!;
    await world.remove(Pods, ended.metadata.name!);
    await world.until(async () => (await get()).status?.active === 1);
    await world.redecide();
    await world.until(isOver);
    expect((await get()).status).toMatchObject({ succeeded: 2 });
  });

  it('ends when a rule of its success policy is met, and its other Pods go', async () => {
    const indexOf = ({ metadata }: Pod): string => metadata.labels!['batch.kubernetes.io/job-completion-index']!;
    world.fate = (pod) => (indexOf(pod) === '1' ? 'succeeded' : 'ready');
    const rules = [
      { succeededIndexes: '0-1', succeededCount: 2 },
      { succeededIndexes: '1-2', succeededCount: 1 },
    ];
    const spec = { completionMode: 'Indexed', completions: 5, parallelism: 3, successPolicy: { rules } };
    await world.create(Jobs, job(spec));
    await world.until(isOver);
    for (const type of ['SuccessCriteriaMet', 'Complete']) {
      expect(await condition(type)).toMatchObject({ reason: 'SuccessPolicy', message: 'Matched rules at index 1' });
    }
    expect((await get()).status).toMatchObject({ succeeded: 1, completedIndexes: '1' });
    expect((await world.pods()).map(indexOf)).toEqual(['1']);
  });

  it.each([
    [
      { completionMode: 'NonIndexed' },
      'spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode',
    ],
    [
      { successPolicy: { rules: [] } },
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
    [
      { successPolicy: { rules: [{}] } },
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
    ],
    [
      { successPolicy: { rules: [{ succeededIndexes: '2-1' }] } },
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2-1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1',
    ],
    [
      { successPolicy: { rules: [{ succeededIndexes: '7' }] } },
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "7": error parsing succeededIndexes: too large index: "7"',
    ],
    [
      { successPolicy: { rules: [{ succeededIndexes: '1', succeededCount: 2 }] } },
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 2: must be less than or equal to 1 (the number of indexes in the specified succeededIndexes field)',
    ],
  ])('is refused with the success policy of %j', async (spec, message) => {
    const successPolicy = { rules: [{ succeededCount: 1 }] };
    const refused = world.create(Jobs, job({ completionMode: 'Indexed', completions: 5, successPolicy, ...spec }));
    await expect(refused).rejects.toThrow(message);
  });

  it('adopts its Pods again when they lose it and releases them when it is deleted with Orphan', async () => {
    await world.create(Jobs, job({ parallelism: 1, completions: 1 }));
    await world.until(async () => (await get()).status?.ready === 1);
    const [name] = (await world.pods()).map(({ metadata }) => metadata.name!);
    const finalizers = async (): Promise<string[]> => (await world.get(Pods, name!)).metadata.finalizers ?? [];
    expect(await finalizers()).toEqual(['batch.kubernetes.io/job-tracking']);
    await world.patch(Pods, name!, { metadata: { ownerReferences: [] } });
    await world.until(async () => (await world.get(Pods, name!)).metadata.ownerReferences?.length === 1);
    expect(await finalizers()).toEqual(['batch.kubernetes.io/job-tracking']);
    await world.client.delete(Jobs, { namespace: world.namespace, name: 'job' }, { propagationPolicy: 'Orphan' });
    await world.until(async () => (await finalizers()).length === 0);
  });

  it('gives up after too many failures, with longer and longer pauses', async () => {
    world.fate = () => 'failed';
    await world.create(Jobs, job({ backoffLimit: 2 }));
    const began = world.clock.now();
    await world.until(isOver);
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(30_000);
    expect((await get()).status).toMatchObject({ failed: 3 });
    expect(await condition('Failed')).toMatchObject({
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    });
    expect(await world.pods()).toHaveLength(3);
  });

  describe('with a limit for each index', () => {
    const indexMark = 'batch.kubernetes.io/job-completion-index';
    const countMark = 'batch.kubernetes.io/job-index-failure-count';
    const ignoredMark = 'batch.kubernetes.io/job-index-ignored-failure-count';
    const numberOf = ({ metadata }: Pod): number => Number(metadata.annotations![indexMark]);
    const counts = async (index: number, mark: string): Promise<(string | undefined)[]> =>
      (await world.pods()).filter((pod) => numberOf(pod) === index).map(({ metadata }) => metadata.annotations![mark]);
    const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2, backoffLimitPerIndex: 1 };

    it('goes through all indexes though some fail and counts the failures of each on its Pods', async () => {
      world.fate = (pod) => (numberOf(pod) % 2 === 0 ? 'failed' : 'succeeded');
      await world.create(Jobs, job(indexed));
      await world.until(isOver);
      expect((await get()).status).toMatchObject({
        succeeded: 2,
        failed: 4,
        completedIndexes: '1,3',
        failedIndexes: '0,2',
        uncountedTerminatedPods: {},
      });
      for (const type of ['FailureTarget', 'Failed']) {
        expect(await condition(type)).toMatchObject({ reason: 'FailedIndexes', message: 'Job has failed indexes' });
      }
      expect((await counts(0, countMark)).sort()).toEqual(['0', '1']);
      expect((await counts(1, countMark)).sort()).toEqual(['0']);
    });

    it('holds a failed Pod until its successor carries the failure count of its index', async () => {
      world.fate = () => 'failed';
      await world.create(Jobs, job({ ...indexed, completions: 1 }));
      await world.until(async () => (await world.pods()).some(({ status }) => status?.phase === 'Failed'));
      const [first] = await world.pods();
      await world.remove(Pods, first!.metadata.name!);
      await world.until(async () => (await counts(0, countMark)).includes('1'));
      await world.until(isOver);
      expect((await get()).status).toMatchObject({ failed: 2, failedIndexes: '0' });
    });

    it('gives up when too many indexes have failed', async () => {
      world.fate = () => 'failed';
      await world.create(
        Jobs,
        job({ ...indexed, completions: 10, parallelism: 1, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
      );
      await world.until(isOver);
      expect(await condition('Failed')).toMatchObject({
        reason: 'MaxFailedIndexesExceeded',
        message: 'Job has exceeded the specified maximal number of failed indexes',
      });
      expect((await get()).status).toMatchObject({ failed: 2, failedIndexes: '0,1' });
    });

    it('counts the Pods it held when it ends for another reason', async () => {
      world.fate = () => 'failed';
      await world.create(Jobs, job({ ...indexed, completions: 2, backoffLimit: 1, backoffLimitPerIndex: 5 }));
      await world.until(isOver);
      expect(await condition('Failed')).toMatchObject({ reason: 'BackoffLimitExceeded' });
      expect((await get()).status).toMatchObject({ failed: 2, uncountedTerminatedPods: {} });
    });

    it('gives up an index at once when its policy says so and does not count ignored failures', async () => {
      let ignored = 0;
      world.fate = (pod) => (numberOf(pod) === 1 ? 'succeeded' : 'failed');
      const failIndex = { action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } };
      const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }, failIndex];
      await world.create(Jobs, job({ ...indexed, completions: 2, podFailurePolicy: { rules } }));
      await world.until(isOver);
      expect((await get()).status).toMatchObject({ failed: 1, failedIndexes: '0', completedIndexes: '1' });

      world.fate = (pod) => {
        if (Number(pod.metadata.annotations?.[ignoredMark] ?? 0) >= 2) return 'succeeded';
        ignored++;
        return 'failed';
      };
      const ignoring = [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }];
      const second = job({ ...indexed, completions: 1, podFailurePolicy: { rules: ignoring } });
      await world.create(Jobs, { ...second, metadata: { name: 'second' } });
      await world.until(async () => (await world.get(Jobs, 'second')).status?.completedIndexes === '0');
      expect(ignored).toBeGreaterThanOrEqual(2);
      expect((await world.get(Jobs, 'second')).status?.failed).toBeUndefined();
    });
  });

  it('ends with its Pods when its deadline has passed', async () => {
    await world.create(Jobs, job({ activeDeadlineSeconds: 60, parallelism: 2, completions: 2 }));
    await world.until(isOver);
    expect(await condition('Failed')).toMatchObject({ reason: 'DeadlineExceeded' });
    expect((await world.pods()).filter(({ status }) => status?.phase === 'Running')).toEqual([]);
  });

  it('runs no Pods while it is suspended', async () => {
    world.fate = ({ metadata }) => (metadata.annotations?.['look'] ? 'succeeded' : 'running');
    await world.create(Jobs, job({ suspend: true }));
    await world.until(async () => (await condition('Suspended'))?.status === 'True');
    expect(await world.pods()).toEqual([]);
    await world.patch(Jobs, 'job', { spec: { suspend: false } });
    await world.until(async () => (await get()).status?.active === 1);
    expect((await condition('Suspended'))?.status).toBe('False');
    await world.patch(Jobs, 'job', { spec: { suspend: true } });
    await world.until(async () => (await world.pods()).length === 0);
    await world.patch(Jobs, 'job', { spec: { suspend: false } });
    await world.until(async () => (await get()).status?.active === 1);
    await world.redecide();
    await world.until(isOver);
    expect(await condition('Complete')).toMatchObject({ status: 'True' });
  });

  it('is deleted when its time to live after the end is over', async () => {
    world.fate = () => 'succeeded';
    await world.create(Jobs, job({ ttlSecondsAfterFinished: 100 }));
    await world.until(isOver);
    const ended = Date.parse((await get()).status!.completionTime!);
    await world.until(async () => (await world.find(Jobs, 'job', world.namespace)) === undefined);
    expect(world.clock.now() - ended).toBeGreaterThanOrEqual(100_000);
    await world.until(async () => (await world.pods()).length === 0);
  });

  it('follows its policy for Pod failures', async () => {
    world.fate = () => 'failed';
    const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }];
    await world.create(Jobs, job({ podFailurePolicy: { rules } }));
    await world.until(isOver);
    expect(await condition('Failed')).toMatchObject({ reason: 'PodFailurePolicy' });
    expect((await condition('Failed'))?.message).toMatch(
      /^Container app for pod default\/job-\w+ failed with exit code 1 matching FailJob rule at index 0$/,
    );
  });

  it('gives every Pod its number when it is indexed', async () => {
    world.fate = ({ metadata }) =>
      metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === '1' ? 'running' : 'succeeded';
    await world.create(Jobs, job({ completionMode: 'Indexed', completions: 4, parallelism: 4 }));
    await world.until(async () => (await get()).status?.succeeded === 3);
    expect((await get()).status?.completedIndexes).toBe('0,2,3');
    world.fate = () => 'succeeded';
    await world.redecide();
    await world.until(isOver);
    expect((await get()).status).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
    expect((await world.pods()).map(({ spec }) => spec.hostname).sort()).toEqual(['job-0', 'job-1', 'job-2', 'job-3']);
  });

  it('takes its Pods with it when it is deleted', async () => {
    await world.create(Jobs, job({ parallelism: 2, completions: 2 }));
    await world.until(async () => (await world.pods()).length === 2);
    await world.remove(Jobs, 'job');
    await world.until(async () => (await world.pods()).length === 0);
  });
});

describe('indexes', () => {
  it.each([
    [[], ''],
    [[0], '0'],
    [[0, 1], '0,1'],
    [[0, 1, 2], '0-2'],
    [[0, 2, 3, 4, 7, 8], '0,2-4,7,8'],
  ])('%j are written as %j', (indexes, text) => {
    const made = new IndexSet();
    for (const index of [...indexes].reverse()) made.add(index);
    expect(made.toString()).toBe(text);
    const read = IndexSet.parse(text, 100);
    expect(read.toString()).toBe(text);
    expect(read.size).toBe(indexes.length);
    expect(Array.from({ length: 100 }, (_, index) => index).filter((index) => read.has(index))).toEqual(indexes);
  });
});
