import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { createWorkloadClusters } from './workload-clusters.ts';

describe('connections to workload clusters', () => {
  it('say that they were not tried yet, instead of reporting an outage without a cause', () => {
    const clusters = createWorkloadClusters({
      client: {} as never,
      connect: async () => await Promise.reject(new Error('not called')),
      clock: new ManualClock(),
      random: seededRandom(1),
    });
    expect(() => clusters.client({ namespace: 'a', name: 'c1' })).toThrow(
      'connection to the workload cluster c1 is down: it is tried once the infrastructure of the Cluster is provisioned',
    );
  });
});
