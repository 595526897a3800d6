import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CronJob, CronJobs, type Job, Jobs } from '../../../api/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['jobs', 'cronJobs'] });
  world.fate = () => 'succeeded';
});
afterEach(() => world.stop());

function cronJob(spec: Partial<CronJob['spec']> = {}): CronJob {
  const { metadata, spec: pod } = template({ app: 'cron' });
  const jobTemplate = { spec: { template: { metadata, spec: { ...pod, restartPolicy: 'Never' } } } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'cron' },
    spec: { schedule: '*/5 * * * *', jobTemplate, ...spec },
  };
}

const get = (): Promise<CronJob> => world.get(CronJobs, 'cron');
const jobs = async (): Promise<Job[]> =>
  (await world.list(Jobs)).sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
const minute = (ms: number): number => Math.floor(ms / 60_000);

describe('a CronJob', () => {
  it('makes a Job each time it is due, named by the minute, and keeps the newest few', async () => {
    await world.create(CronJobs, cronJob({ successfulJobsHistoryLimit: 2 }));
    const start = world.clock.now();
    await world.until(async () => (await get()).status?.lastScheduleTime !== undefined);
    expect((await jobs())[0]).toMatchObject({
      metadata: {
        name: `cron-${minute(start) + 5}`,
        annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:05:00Z' },
      },
    });
    await world.until(async () => (await get()).status?.lastScheduleTime === '2026-01-01T00:20:00Z');
    await world.until(async () => (await jobs()).length === 2 && (await get()).status?.active === undefined);
    expect((await jobs()).map(({ metadata }) => metadata.name)).toEqual([
      `cron-${minute(start) + 15}`,
      `cron-${minute(start) + 20}`,
    ]);
    expect((await get()).status?.lastSuccessfulTime).toBe('2026-01-01T00:20:00Z');
  });

  it.each([
    ['Allow', 3],
    ['Forbid', 1],
    ['Replace', 1],
  ])('with the policy %s has %i Jobs at a time', async (concurrencyPolicy, expected) => {
    world.fate = () => 'running';
    const start = world.clock.now();
    await world.create(CronJobs, cronJob({ concurrencyPolicy }));
    await world.clock.advance(5 * 60_000 + 1);
    const first = (await jobs())[0]?.metadata.name;
    for (let round = 0; round < 10; round++) await world.clock.advance(60_000);
    const last = `cron-${minute(start) + 15}`;
    const names = async (): Promise<unknown[]> => (await jobs()).map(({ metadata }) => metadata.name);
    if (concurrencyPolicy !== 'Forbid') await world.until(async () => (await names()).includes(last));
    await world.until(async () => (await get()).status?.active?.length === expected);
    expect(await names()).toHaveLength(expected);
    expect((await names()).includes(first)).toBe(concurrencyPolicy !== 'Replace');
  });

  it('makes one Job for all missed times, and none when the last one is too long ago', async () => {
    await world.create(CronJobs, cronJob({ suspend: true }));
    await world.clock.advance(62 * 60_000);
    await world.patch(CronJobs, 'cron', { spec: { suspend: false } });
    await world.until(async () => (await jobs()).length === 1);
    expect((await get()).status?.lastScheduleTime).toBe('2026-01-01T01:00:00Z');
    await world.patch(CronJobs, 'cron', { spec: { suspend: true, startingDeadlineSeconds: 60 } });
    await world.clock.advance(64 * 60_000);
    await world.patch(CronJobs, 'cron', { spec: { suspend: false } });
    for (let round = 0; round < 5; round++) await world.clock.advance(1_000);
    expect((await get()).status?.lastScheduleTime).toBe('2026-01-01T01:00:00Z');
  });
});
