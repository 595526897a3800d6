import { expect, it } from 'vitest';
import type { Cluster, OpenStackCluster } from '../../../api/index.ts';
import type { LoadBalancer, Volume } from '../../../openstack/index.ts';
import { claimVolumesOf, type LeftoverScope, serviceBalancersOf } from './leftovers.ts';

/** The scope of Cluster `red` in namespace `team`, with these other Clusters. */
function scopeOf(others: readonly (readonly [namespace: string, name: string])[], managed: boolean): LeftoverScope {
  const clusters = [['team', 'red'] as const, ...others].map(
    ([namespace, name]) => ({ metadata: { namespace, name } }) as Cluster,
  );
  const openStackCluster = {
    metadata: { namespace: 'team', name: 'red-x7' },
    spec: managed ? { managedSubnets: [{ cidr: '10.6.0.0/24' }] } : {},
    status: { network: { id: 'network', name: 'network' } },
  } as OpenStackCluster;
  return {
    clusterName: 'red',
    base: 'team-red',
    original: openStackCluster,
    draft: openStackCluster,
    context: {
      cache: { lister: () => ({ list: ({ filter }: { filter(one: Cluster): boolean }) => clusters.filter(filter) }) },
    } as never,
  };
}

const balancer = (name: string): LoadBalancer => ({ name, vipNetworkId: 'network' }) as LoadBalancer;
const volume = (cluster: string): Volume =>
  ({ metadata: { 'cinder.csi.openstack.org/cluster': cluster } }) as Partial<Volume> as Volume;
const found = (others: readonly (readonly [string, string])[], managed = false): string[] => {
  const scope = scopeOf(others, managed);
  const words = ['red', 'team-red', 'redder'];
  return [
    ...words.filter((word) => claimVolumesOf(scope)(volume(word))).map((word) => `volume of ${word}`),
    ...words
      .filter((word) => serviceBalancersOf(scope)(balancer(`kube_service_${word}_default_web`)))
      .map((word) => `balancer of ${word}`),
  ];
};

it('leftovers are recognized by the cluster name, with or without its namespace', () => {
  const own = ['volume of red', 'volume of team-red', 'balancer of red', 'balancer of team-red'];
  expect(found([])).toEqual(own);
  expect(found([['other', 'blue']])).toEqual(own);
});

it('leftovers are not recognized by a name shared with a Cluster of another namespace', () => {
  expect(found([['other', 'red']])).toEqual(['volume of team-red', 'balancer of team-red']);
  expect(found([['other', 'team-red']])).toEqual(['volume of red', 'balancer of red']);
});

it('leftovers are all Service load balancers on a network of the cluster', () => {
  expect(found([['other', 'red']], true)).toEqual([
    'volume of team-red',
    'balancer of red',
    'balancer of team-red',
    'balancer of redder',
  ]);
});
