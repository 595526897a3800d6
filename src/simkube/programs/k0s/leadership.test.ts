import { expect, it } from 'vitest';
import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';
import { type Candidate, standForLeader } from './leadership.ts';

it('lets one controller of a cluster lead, and the next when it has left', async () => {
  const [cluster, other] = [{}, {}] as WorkloadCluster[];
  const leaders: string[] = [];
  const stand = (name: string, where = cluster): Candidate => {
    const candidate = standForLeader(where!);
    void candidate.leads.then(() => leaders.push(name));
    return candidate;
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const [first, second] = [stand('first'), stand('second')];
  stand('third');
  stand('elsewhere', other);
  await settled();
  expect(leaders).toEqual(['first', 'elsewhere']);
  second.leave();
  await settled();
  expect(leaders).toEqual(['first', 'elsewhere']);
  first.leave();
  await settled();
  expect(leaders).toEqual(['first', 'elsewhere', 'third']);
});
