import { describe, expect, it } from 'vitest';
import type { OpenStackCluster, OpenStackServer } from '../../../api/index.ts';
import { auditFindings } from './findings.ts';
import type { CloudResource } from './inventory.ts';

const owner = '11111111-2222-3333-4444-555555555555';
const resource = (more: Partial<CloudResource>): CloudResource => ({
  type: 'network',
  id: 'n1',
  name: 'n',
  description: '',
  owner: undefined,
  metadata: {},
  ...more,
});
const cluster: OpenStackCluster = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'OpenStackCluster',
  metadata: { name: 'red', namespace: 'team', uid: owner },
  spec: { identityRef: { name: 'cloud', cloudName: 'openstack' } },
  status: { network: { id: 'recorded', name: 'brought' } },
};
const owners = { objects: [cluster], clusters: [{ namespace: 'team', name: 'red' }] };

describe('the cloud audit', () => {
  it('reports a resource as orphan when its owner mark is unknown, whatever its name', () => {
    const mine = resource({ owner });
    const orphan = resource({
      id: 'n2',
      owner: '99999999-2222-3333-4444-555555555555',
      name: 'k8s-clusterapi-cluster-team-red',
    });
    expect(auditFindings([mine, orphan], owners, []).orphans).toEqual([orphan]);
  });

  it('uses the recorded owner mark of a moved object and the ids in a status', () => {
    const moved = {
      ...cluster,
      metadata: {
        ...cluster.metadata,
        uid: 'other',
        annotations: { 'infrastructure.cluster.x-k8s.io/owner-mark': owner },
      },
    };
    const recorded = resource({ id: 'recorded', owner: '99999999-2222-3333-4444-555555555555' });
    expect(auditFindings([resource({ owner }), recorded], { ...owners, objects: [moved] }, []).orphans).toEqual([]);
  });

  it('recognizes the owner of a server group by the first digits of its mark', () => {
    const group = (end: string): CloudResource => resource({ type: 'server group', owner: end, id: end });
    expect(auditFindings([group('11111111'), group('99999999')], owners, []).orphans).toEqual([group('99999999')]);
  });

  it('does not report a floating IP as orphan that a pool may have retained', () => {
    const gone = '99999999-2222-3333-4444-555555555555';
    const description = `Created by cluster-api-provider-openstack OpenStackFloatingIPPool office [owner ${gone}]`;
    const kept = resource({ type: 'floating IP', owner: gone, description });
    const { orphans, foreign } = auditFindings([kept, resource({ id: 'n3', owner: gone })], owners, []);
    expect(orphans.map(({ id }) => id)).toEqual(['n3']);
    expect(foreign.map(({ remark }) => remark)).toEqual([expect.stringContaining('OpenStackFloatingIPPool office')]);
  });

  it('does not report an image as orphan that an Image may have left on purpose', () => {
    const image = resource({ type: 'image', owner: '99999999-2222-3333-4444-555555555555' });
    const { orphans, foreign } = auditFindings([image, resource({ type: 'image', owner })], owners, []);
    expect(orphans).toEqual([]);
    expect(foreign.map(({ remark }) => remark)).toEqual([expect.stringContaining('Image')]);
  });

  it('reports a resource of an owner in another project, but not as orphan', () => {
    const left = resource({ owner });
    expect(auditFindings([left], owners, [], [cluster])).toEqual({
      orphans: [],
      missing: [],
      foreign: [{ ...left, remark: expect.stringContaining('OpenStackCluster team/red, which is in another project') }],
    });
    expect(auditFindings([left], owners, [cluster], [cluster]).foreign).toEqual([]);
  });

  it('reports objects whose status names resources missing in the cloud', () => {
    const server = {
      apiVersion: cluster.apiVersion,
      kind: 'OpenStackServer',
      metadata: { name: 'red-1', namespace: 'team', uid: 'u' },
      status: { ready: true, instanceID: 'gone' },
    } as OpenStackServer;
    expect(auditFindings([resource({ id: 'recorded' })], owners, [cluster, server]).missing).toEqual([
      { object: 'OpenStackServer team/red-1', type: 'server', id: 'gone' },
    ]);
  });

  it.each([
    [{ type: 'router', name: 'k8s-clusterapi-cluster-default-old' }, 'default-old of cluster-api-provider-openstack'],
    [{ type: 'load balancer', name: 'k8s-clusterapi-cluster-default-old-kubeapi' }, 'default-old of'],
    [{ type: 'security group', name: 'k8s-cluster-default-old-secgroup-worker' }, 'default-old of'],
    [
      { type: 'floating IP', description: 'Created by cluster-api-provider-openstack cluster default-old' },
      'default-old',
    ],
    [{ type: 'load balancer', name: 'kube_service_old_default_web' }, 'of a Service in a cluster old'],
    [
      {
        type: 'floating IP',
        description: 'Floating IP for Kubernetes external service default/web from cluster old',
      },
      'of a Service in a cluster old',
    ],
    [{ type: 'volume', metadata: { 'cinder.csi.openstack.org/cluster': 'old' } }, 'of a volume claim in a cluster old'],
  ] as const)('reports %o, which carries no mark, but not as orphan', (more, remark) => {
    const { orphans, foreign } = auditFindings([resource(more)], owners, []);
    expect(orphans).toEqual([]);
    expect(foreign.map((one) => one.remark)).toEqual([expect.stringContaining(remark)]);
  });

  it.each([
    { type: 'router', name: 'k8s-clusterapi-cluster-team-red' },
    { type: 'load balancer', name: 'kube_service_red_default_web' },
    { type: 'floating IP', description: 'Floating IP for Kubernetes external service default/web from cluster red' },
    { type: 'network', name: 'office' },
    { type: 'volume', metadata: { 'cinder.csi.openstack.org/cluster': 'team-red' } },
  ] as const)('does not report %o, which belongs to a known cluster or is not ours', (more) => {
    expect(auditFindings([resource(more)], owners, [])).toEqual({ orphans: [], missing: [], foreign: [] });
  });
});
