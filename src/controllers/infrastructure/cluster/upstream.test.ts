import { expect, it } from 'vitest';
import type { Cluster, OpenStackCluster } from '../../../api/index.ts';
import { openStackClusterFinalizer } from '../common/names.ts';
import { ownsUpstreamsResources } from './upstream.ts';

const cluster = (namespace: string, name: string): Cluster => ({ metadata: { namespace, name } }) as Cluster;
const contextOf = (clusters: readonly Cluster[]) =>
  ({
    cache: { lister: () => ({ list: ({ filter }: { filter(one: Cluster): boolean }) => clusters.filter(filter) }) },
  }) as never;
const openStackCluster = (metadata: object): OpenStackCluster =>
  ({ metadata: { namespace: 'a', name: 'b-c', ...metadata } }) as OpenStackCluster;
const upstreams = openStackCluster({ finalizers: [openStackClusterFinalizer] });

it('owns what carries upstream’s names where upstream had begun with it', () => {
  const context = contextOf([cluster('a', 'b-c')]);
  expect(ownsUpstreamsResources(context, upstreams, 'b-c')).toBe(true);
  const annotations = { 'infrastructure.cluster.x-k8s.io/owner-mark': 'uid' };
  const ours = openStackCluster({ finalizers: [openStackClusterFinalizer], annotations });
  expect(ownsUpstreamsResources(context, ours, 'b-c')).toBe(false);
});

it('is given nothing where a cluster of another namespace has the same names in the cloud', () => {
  expect(ownsUpstreamsResources(contextOf([cluster('a', 'b-c'), cluster('a-b', 'c')]), upstreams, 'b-c')).toBe(false);
});
