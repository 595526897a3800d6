import { describe, expect, it } from 'vitest';
import {
  ClusterClasses,
  Clusters,
  clusterNameLabel,
  JoinTokenRequests,
  K0smotronClusters,
  KubeadmControlPlanes,
  Machines,
  OpenStackMachines,
  OpenStackServers,
  TenantControlPlanes,
} from '../../api/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import { leaderShare } from '../../runtime/index.ts';
import { clusterShares } from './cluster-shares.ts';

const plane: KubeObject = object(K0smotronClusters, 'plane', { labels: { [clusterNameLabel]: 'c' } });
const map = clusterShares({
  lister: () => ({ get: ({ name }: { name: string }) => (name === 'plane' ? plane : undefined) }) as never,
});

function object(resource: Resource, name: string, metadata: object = {}, spec: object = {}): KubeObject {
  const { group, version, kind } = resource;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { namespace: 'ns', name, ...metadata },
    spec,
  } as KubeObject;
}

const owner = (kind: string, name: string): object => ({
  ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind, name, uid: 'u' }],
});
const labelled = (name: string): object => ({ labels: { [clusterNameLabel]: name } });

describe('the share of an object', () => {
  it.each<[string, Resource, KubeObject, string]>([
    ['the Cluster', Clusters, object(Clusters, 'c'), 'ns/c'],
    [
      'a Machine, whatever its label says',
      Machines,
      object(Machines, 'm', labelled('d'), { clusterName: 'c' }),
      'ns/c',
    ],
    [
      'a control plane by its owner before its label',
      KubeadmControlPlanes,
      object(KubeadmControlPlanes, 'p', { ...owner('Cluster', 'c'), ...labelled('d') }),
      'ns/c',
    ],
    ['a machine of a provider by its label', OpenStackMachines, object(OpenStackMachines, 'm', labelled('c')), 'ns/c'],
    [
      'a request that names a plane of a Cluster',
      JoinTokenRequests,
      object(JoinTokenRequests, 'r', {}, { clusterName: 'plane' }),
      'ns/c',
    ],
    [
      'a request that names a plane without one',
      JoinTokenRequests,
      object(JoinTokenRequests, 'r', {}, { clusterName: 'alone' }),
      'ns/alone',
    ],
    ['a plane without a Cluster', K0smotronClusters, object(K0smotronClusters, 'alone'), 'ns/alone'],
    ['a tenant without a Cluster', TenantControlPlanes, object(TenantControlPlanes, 'alone'), 'ns/alone'],
    ['a server without a Cluster', OpenStackServers, object(OpenStackServers, 'alone'), 'ns/alone'],
    ['a control plane nobody has claimed', KubeadmControlPlanes, object(KubeadmControlPlanes, 'p'), leaderShare],
    ['a class', ClusterClasses, object(ClusterClasses, 'class'), leaderShare],
  ])('is found for: %s', (_what, resource, found, share) => {
    expect(map.shareOf(resource, found)).toBe(share);
  });

  it('is known by key for a deleted Cluster only', () => {
    expect(map.shareOfMissing(Clusters, { namespace: 'ns', name: 'c' })).toBe('ns/c');
    expect(map.shareOfMissing(Machines, { namespace: 'ns', name: 'm' })).toBeUndefined();
  });
});
