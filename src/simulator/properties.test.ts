import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FaultRule } from './core/faults/rule.ts';
import { RandomLife, type Step, step } from './testing/random-life.ts';
import { testTenant } from './testing/test-tenant.ts';

const life = fc.array(step, { minLength: 5, maxLength: 25 });

const tight = {
  compute: { instances: 3, cores: 6, ram: 10_000, server_groups: 2 },
  network: { network: 4, subnet: 4, port: 9, router: 2, floatingip: 2, security_group: 4 },
  volume: { volumes: 3, gigabytes: 9 },
  'load-balancer': { load_balancer: 1 },
} as const;

const fault: FaultRule[] = [
  { id: 'build', when: { operation: 'server.build' }, probability: 0.2, effect: { kind: 'error' } },
  { id: 'schedule', when: { operation: 'server.schedule' }, probability: 0.1, effect: { kind: 'error' } },
  { id: 'delete', when: { operation: 'server.delete' }, probability: 0.2, effect: { kind: 'error' } },
  { id: 'volume', when: { operation: 'volume.*' }, probability: 0.2, effect: { kind: 'error' } },
];

async function born(steps: readonly Step[], options: Parameters<typeof testTenant>[0] = {}): Promise<RandomLife> {
  const random = new RandomLife(await testTenant({ timeScale: 0.5, ...options }));
  for (const each of steps) await random.happen(each);
  return random;
}

describe('any history of a cloud', () => {
  it('never exceeds a quota', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(life, async (steps) => {
        const tenant = await testTenant({ timeScale: 0.5 });
        const { operator, core } = tenant.cloud;
        const { projectId } = tenant.user;
        for (const service of Object.keys(tight) as (keyof typeof tight)[]) {
          operator.setQuota(service, projectId, tight[service]);
        }
        const random = new RandomLife(tenant);
        for (const each of steps) {
          await random.happen(each);
          for (const [service, limits] of Object.entries(tight)) {
            for (const [resource, limit] of Object.entries(limits)) {
              const used = core.quotas.used(service, projectId, resource);
              expect(used, `${service} ${resource} after ${JSON.stringify(each)}`).toBeLessThanOrEqual(limit);
            }
          }
        }
        await tenant.cloud.close();
      }),
      { numRuns: 15 },
    );
  });

  it('leaves nothing after everything is deleted', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(life, fc.boolean(), async (steps, hasFault) => {
        const random = await born(steps, hasFault ? { faults: fault } : {});
        const { cloud, user } = random.tenant;
        expect(await random.deleteAll()).toEqual([]);
        expect(cloud.core.jobs.size).toBe(0);
        for (const resource of ['instances', 'cores', 'ram', 'server_groups']) {
          expect(cloud.core.quotas.used('compute', user.projectId, resource)).toBe(0);
        }
        for (const resource of ['volumes', 'gigabytes']) {
          expect(cloud.core.quotas.used('volume', user.projectId, resource)).toBe(0);
        }
        await cloud.close();
      }),
      { numRuns: 15 },
    );
  });

  it('is the same for the same seed', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(life, fc.nat(1000), async (steps, seed) => {
        const [first, second] = [
          await born(steps, { seed, faults: fault }),
          await born(steps, { seed, faults: fault }),
        ];
        expect(second.transcript).toEqual(first.transcript);
        const rows = ({ tenant }: RandomLife): string => JSON.stringify([...tenant.cloud.core.state.rows()]);
        expect(rows(second)).toBe(rows(first));
        await first.tenant.cloud.close();
        await second.tenant.cloud.close();
      }),
      { numRuns: 8 },
    );
  });
});
