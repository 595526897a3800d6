import { describe, expect, it } from 'vitest';
import type { Cluster, OpenStackCluster } from '../../../api/index.ts';
import { openStackClusterFinalizer } from '../common/names.ts';
import { ownsUpstreamsResources } from './upstream.ts';

const cluster = (namespace: string, name: string): Cluster => ({ metadata: { namespace, name } }) as Cluster;
const contextOf = (clusters: readonly Cluster[]) =>
  ({
    cache: { lister: () => ({ list: ({ filter }: { filter(one: Cluster): boolean }) => clusters.filter(filter) }) },
  }) as never;
const openStackCluster = (metadata: object): OpenStackCluster =>
  ({
    kind: 'OpenStackCluster',
    metadata: { namespace: 'a', name: 'b-c', ...metadata },
    spec: { identityRef: { type: 'ClusterIdentity', name: 'shared', cloudName: 'openstack' } },
  }) as OpenStackCluster;
const upstreams = openStackCluster({ finalizers: [openStackClusterFinalizer] });
const own = { clusterName: 'b-c', access: {} };

it('an OpenStackCluster begun by upstream owns resources with upstream’s names', () => {
  const context = contextOf([cluster('a', 'b-c')]);
  expect(ownsUpstreamsResources(context, upstreams, own)).toBe(true);
  const annotations = { 'infrastructure.cluster.x-k8s.io/owner-mark': 'uid' };
  const ours = openStackCluster({ finalizers: [openStackClusterFinalizer], annotations });
  expect(ownsUpstreamsResources(context, ours, own)).toBe(false);
});

it('an OpenStackCluster owns nothing by name when another namespace has the same names', () => {
  expect(ownsUpstreamsResources(contextOf([cluster('a', 'b-c'), cluster('a-b', 'c')]), upstreams, own)).toBe(false);
});

describe('an OpenStackCluster with credentials shared by several namespaces', () => {
  const context = contextOf([cluster('a', 'b-c')]);
  const made = (at: string, more: object = {}): OpenStackCluster =>
    openStackCluster({ finalizers: [openStackClusterFinalizer], creationTimestamp: at, ...more });
  const shared = (begunUntil: number) => ({ clusterName: 'b-c', access: { begunUntil } });
  const stopped = Date.parse('2026-03-01T12:00:00Z');

  it('owns resources with upstream’s names when it existed before upstream stopped', () => {
    expect(ownsUpstreamsResources(context, made('2026-03-01T12:00:00Z'), shared(stopped))).toBe(true);
    const late = made('2026-03-01T12:00:01Z');
    expect(() => ownsUpstreamsResources(context, late, shared(stopped))).toThrow(
      'annotate the identity with infrastructure.cluster.x-k8s.io/begun-by-upstream-until',
    );
  });

  it('is continued from its status or deleted without using upstream’s names', () => {
    const late = '2026-03-01T12:00:01Z';
    const recorded = { ...made(late), status: { network: { id: 'net' } } } as OpenStackCluster;
    expect(ownsUpstreamsResources(context, recorded, shared(stopped))).toBe(false);
    expect(ownsUpstreamsResources(context, made(late, { deletionTimestamp: late }), shared(stopped))).toBe(false);
  });

  it('cannot be forged to look begun by upstream', () => {
    const annotations = {
      'infrastructure.cluster.x-k8s.io/begun-by': 'cluster-api-provider-openstack',
      'infrastructure.cluster.x-k8s.io/begun-by-upstream-until': '2099-01-01T00:00:00Z',
    };
    const forged = made('2026-03-02T00:00:00Z', { annotations });
    expect(ownsUpstreamsResources(context, forged, own)).toBe(true);
    for (const until of [stopped, Number.NEGATIVE_INFINITY]) {
      expect(() => ownsUpstreamsResources(context, forged, shared(until))).toThrow('does not confirm it');
    }
  });
});
