import { describe, expect, it } from 'vitest';
import type { ClusterClass } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { ContractError, type Follower } from '../../shared/index.ts';
import { FakeControlPlanes } from '../../testing/provider-kinds.ts';
import type { TopologyCluster } from '../common.ts';
import { readBlueprint } from './read-class.ts';

const reference = (kind: string) => ({ templateRef: { apiVersion: 'x.example.com/v1', kind, name: 't' } });
const clusterClass: ClusterClass = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'ClusterClass',
  metadata: { name: 'small', namespace: 'default' },
  spec: { infrastructure: reference('InfraTemplate'), controlPlane: reference('PlaneTemplate') },
};
const cluster = { spec: { topology: { version: 'v1.33.0' } } } as TopologyCluster;

/** Reads a class whose templates fail with an error. */
async function read(failure: Error): Promise<unknown> {
  const refuse = (): Promise<never> => Promise.reject(failure);
  const follower: Follower = {
    source: { start: () => {} },
    kindOf: async () => ({ resource: FakeControlPlanes, contract: 'v1beta2' }),
    get: refuse,
    controlledBy: refuse,
  };
  const context = { signal: new AbortController().signal } as ReconcileContext;
  return await readBlueprint(context, follower, cluster, clusterClass).catch((error: unknown) => error);
}

describe('a ClusterClass whose template cannot be read', () => {
  it('is retried at once when the API did not answer', async () => {
    const lost = new Error('read ECONNRESET');
    expect(await read(lost)).toBe(lost);
  });

  it('is retried later when the kind does not exist, naming the field', async () => {
    const unknown = new ContractError('there is no kind InfraTemplate', 'install it', { notInstalled: true });
    expect(await read(unknown)).toMatchObject({
      name: 'NotYet',
      message: 'spec.infrastructure.templateRef of ClusterClass small: there is no kind InfraTemplate',
      retryMs: 30_000,
    });
  });
});
